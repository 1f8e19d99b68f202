from order_pb2 import Order
def f(x: str) -> bytes:
    return Order(id=x).SerializeToString()
