from order_pb2 import Order
def f() -> int:
    return Order.COUPON_FIELD_NUMBER
