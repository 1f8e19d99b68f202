from typing import cast
from order_pb2 import Order
def f(x):
    return cast(Order, x).coupon
