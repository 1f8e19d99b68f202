from order_pb2 import Order
def f(o: Order) -> None:
    o.ClearField("coupon")
