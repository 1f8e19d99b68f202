from acme.shop.v1 import order_pb2 as pb


def code(raw: bytes) -> str:
    return pb.Order.FromString(raw).coupon
