from models import Order
def f(raw: bytes) -> str:
    return Order.FromString(raw).coupon
