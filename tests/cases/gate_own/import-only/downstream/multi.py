from order_pb2 import (
    Legacy,
    Order,
)


def key(raw: bytes) -> str:
    return Legacy.FromString(raw).id + Order.FromString(raw).id
