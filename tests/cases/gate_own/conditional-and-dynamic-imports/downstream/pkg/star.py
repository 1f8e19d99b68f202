from .base import *


def code(raw: bytes) -> str:
    return Base.FromString(raw).coupon
