from order_pb2 import Order
def f(a: Order, b: Order) -> bool:
    return a == b
