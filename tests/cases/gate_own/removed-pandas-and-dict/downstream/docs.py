from order_pb2 import Order
# coupon is gone
def f(o: Order) -> str:
    """coupon"""
    return o.id
