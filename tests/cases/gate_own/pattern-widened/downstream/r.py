from order_pb2 import Order
def f(o: Order) -> int:
    return int(o.code)
