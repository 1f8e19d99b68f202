from enum import Enum

from order_pb2 import Order


class Reply(Enum):
    code = "code"


def text(order: Order) -> str:
    return Reply.code.value + order.name
