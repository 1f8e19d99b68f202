from order_pb2 import Order


def text(thing):
    return thing.coupon


def of(raw: bytes) -> str:
    return text(Order.FromString(raw))
