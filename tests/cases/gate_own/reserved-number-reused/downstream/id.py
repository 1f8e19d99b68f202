from order_pb2 import Order


def key(raw: bytes) -> str:
    return Order.FromString(raw).id
