from order_pb2 import Order
def f(raw: bytes) -> int:
    return Order.FromString(raw).n * 2
