import acme.shop.v1.order_pb2


def code(raw: bytes) -> str:
    return acme.shop.v1.order_pb2.Order.FromString(raw).coupon
