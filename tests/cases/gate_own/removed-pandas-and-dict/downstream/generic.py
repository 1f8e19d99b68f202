from typing import Generic, TypeVar
from order_pb2 import Order
T = TypeVar("T")
class Box(Generic[T]):
    def __init__(self, v: T) -> None:
        self.v = v
def f(raw: bytes) -> str:
    return Box(Order.FromString(raw)).v.coupon
