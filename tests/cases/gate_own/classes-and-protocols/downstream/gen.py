from collections.abc import Iterator

from order_pb2 import Order


def orders(raws: list) -> Iterator[Order]:
    for raw in raws:
        yield Order.FromString(raw)


def codes(raws: list) -> list:
    return [order.coupon for order in orders(raws)]
