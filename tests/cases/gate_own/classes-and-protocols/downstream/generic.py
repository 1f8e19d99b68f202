from dataclasses import dataclass
from typing import Generic, TypeVar

from order_pb2 import Order

T = TypeVar("T")


@dataclass
class Box(Generic[T]):
    value: T


def code(box: Box[Order]) -> str:
    return box.value.coupon
