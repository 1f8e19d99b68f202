from typing import Generic, TypeVar

from shop_pb2 import Coupon

T = TypeVar("T")


class Store(Generic[T]):
    pass


class Coupons(Store[Coupon]):
    pass
