from order_pb2 import Order
def f(raw: bytes) -> float:
    return Order.FromString(raw).confidence_score
