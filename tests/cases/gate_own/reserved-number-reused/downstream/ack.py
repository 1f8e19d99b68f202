from order_pb2 import Order

# contract-ack: shop.v1.Order#2 removed (no old rows are left)


def note(raw: bytes) -> str:
    return Order.FromString(raw).note
