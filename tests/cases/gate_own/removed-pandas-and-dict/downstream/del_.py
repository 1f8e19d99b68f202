import order_pb2
def f(o: order_pb2.Order) -> None:
    del o.coupon
