import shop_pb2


def code(raw: bytes) -> str:
    return shop_pb2.Coupon.FromString(raw).code
