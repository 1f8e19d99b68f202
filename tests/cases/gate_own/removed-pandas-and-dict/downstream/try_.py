from order_pb2 import Order
def f(o: Order) -> str:
    try:
        return o.coupon
    except AttributeError:
        return ""
