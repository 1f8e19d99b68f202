def code(raw: bytes) -> str:
    return __import__("order_pb2").Order.FromString(raw).coupon
