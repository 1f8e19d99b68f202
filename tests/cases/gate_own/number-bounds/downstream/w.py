from order_pb2 import Order
def f(n: int) -> Order:
    return Order(q=max(0, min(n, 100)))
