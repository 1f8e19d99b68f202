import order_pb2


def key(raw: bytes) -> str:
    return order_pb2.Order.FromString(raw).id
