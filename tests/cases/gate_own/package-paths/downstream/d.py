from .acme.shop.v1 import order_pb2


def code(raw: bytes) -> str:
    return order_pb2.Order.FromString(raw).coupon
