from order_pb2 import Order
def f(x: int) -> Order:
    return Order(a=x + 1, b=x)
