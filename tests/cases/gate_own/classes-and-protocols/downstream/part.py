from functools import partial

from order_pb2 import Order

make = partial(Order, coupon="TEN")


def ten(key: str) -> Order:
    return make(id=key)
