import shop_pb2


def is_coupon(thing: object) -> bool:
    return isinstance(thing, shop_pb2.Coupon)
