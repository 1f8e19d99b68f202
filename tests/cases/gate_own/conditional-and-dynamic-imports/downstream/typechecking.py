from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import order_pb2


def code(order: order_pb2.Order) -> str:
    return order.coupon
