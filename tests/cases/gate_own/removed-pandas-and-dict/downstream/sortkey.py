from order_pb2 import Order
def f(orders: list[Order]) -> list:
    return sorted(orders, key=lambda o: o.coupon)
