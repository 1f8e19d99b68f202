from order_pb2 import Order
def f(n: int) -> Order:
    return Order(qty=0)
