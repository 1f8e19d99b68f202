from warehouse.v1.order_pb2 import Order


def code(raw: bytes) -> str:
    return Order.FromString(raw).coupon
