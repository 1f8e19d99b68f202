from order_pb2 import Order
def f(o: Order) -> str:
    return o.coupon if hasattr(o, "coupon") else ""
