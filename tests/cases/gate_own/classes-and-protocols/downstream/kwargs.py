from order_pb2 import Order


def make(**fields):
    return Order(**fields)


def ten() -> Order:
    return make(id="1", coupon="TEN")
