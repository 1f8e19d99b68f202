from order_pb2 import Invoice, Order


def text(raw: bytes) -> str:
    return Invoice.FromString(raw).note


def key(raw: bytes) -> str:
    return Order.FromString(raw).id
