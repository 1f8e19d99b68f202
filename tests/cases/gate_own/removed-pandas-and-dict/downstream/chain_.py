from order_pb2 import Order
def f(raw: bytes) -> str:
    return (
        Order.FromString(raw)
        .coupon
        .strip()
    )
