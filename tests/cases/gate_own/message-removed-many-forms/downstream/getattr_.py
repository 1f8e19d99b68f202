import shop_pb2


def kind():
    return getattr(shop_pb2, "Coupon")
