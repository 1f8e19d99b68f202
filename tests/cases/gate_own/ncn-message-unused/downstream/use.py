from dataclasses import dataclass

import order_pb2


@dataclass
class Coupon:
    code: str


def code(raw: bytes) -> str:
    return Coupon(code=order_pb2.Order.FromString(raw).id).code
