def code(raw: bytes) -> str:
    from order_pb2 import Order

    return Order.FromString(raw).coupon
