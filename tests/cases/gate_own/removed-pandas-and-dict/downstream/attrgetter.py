from operator import attrgetter
from order_pb2 import Order
def f(orders: list[Order]) -> list:
    return sorted(orders, key=attrgetter("coupon"))
