from collections.abc import Sequence
from typing import TypeVar

from order_pb2 import Order

T = TypeVar("T")


def first(items: Sequence[T]) -> T:
    return items[0]


def code(orders: list[Order]) -> str:
    return first(orders).coupon
