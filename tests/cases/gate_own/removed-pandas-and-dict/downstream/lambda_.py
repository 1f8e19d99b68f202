from order_pb2 import Order
key = lambda o: o.coupon
def f(orders: list[Order]) -> list:
    return sorted(orders, key=key)
