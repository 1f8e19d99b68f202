from order_pb2 import Order


def address(row: dict) -> str:
    return row["shipTo"]


def key(raw: bytes) -> str:
    return Order.FromString(raw).id
