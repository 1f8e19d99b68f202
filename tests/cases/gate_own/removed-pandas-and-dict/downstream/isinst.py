from order_pb2 import Order
def f(x: object) -> str:
    if isinstance(x, Order):
        return x.coupon
    return ""
