from order_pb2 import Order
def f(n: int) -> Order:
    return Order(qty=min(max(n, 1), 9))
