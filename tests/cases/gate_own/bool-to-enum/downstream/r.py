from order_pb2 import Order
def f(raw: bytes) -> bool:
    return Order.FromString(raw).paid
