from order_pb2 import Order
def f(x: str) -> Order:
    return Order(code="me")
