import order_pb2

TYPES = {"order": order_pb2.Order}


def code(kind: str, raw: bytes) -> str:
    return TYPES[kind].FromString(raw).coupon
