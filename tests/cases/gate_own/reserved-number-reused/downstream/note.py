from order_pb2 import Order


def note(raw: bytes) -> str:
    return Order.FromString(raw).note
