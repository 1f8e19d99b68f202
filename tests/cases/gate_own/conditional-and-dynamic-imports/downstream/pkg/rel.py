from .base import Base


def code(raw: bytes) -> str:
    return Base.FromString(raw).coupon
