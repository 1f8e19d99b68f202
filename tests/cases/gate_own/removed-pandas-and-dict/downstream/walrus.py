from order_pb2 import Order
def f(raw: bytes) -> str:
    if (o := Order.FromString(raw)).id:
        return o.coupon
    return ""
