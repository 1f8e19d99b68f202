from generated.acme.shop.v1.order_pb2 import Order


def code(raw: bytes) -> str:
    return Order.FromString(raw).coupon
