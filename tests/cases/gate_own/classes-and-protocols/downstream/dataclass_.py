from dataclasses import dataclass

from order_pb2 import Order


@dataclass
class Row:
    key: str
    coupon: str


def row(order: Order) -> Row:
    return Row(key=order.id, coupon=order.coupon)
