from order_pb2 import Order
def pair(raw):
    return Order.FromString(raw), 1
def f(raw: bytes) -> str:
    o, n = pair(raw)
    return o.coupon
