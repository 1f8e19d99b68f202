from order_pb2 import Order


def code(raw: bytes) -> str:
    if (order := Order.FromString(raw)).id:
        return order.coupon
    return ""
