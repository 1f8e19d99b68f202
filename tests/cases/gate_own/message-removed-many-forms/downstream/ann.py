import shop_pb2


def take(coupon: "shop_pb2.Coupon | None" = None, kind: type[shop_pb2.Coupon] | None = None) -> None:
    return None
