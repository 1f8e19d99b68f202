from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message

import order_pb2


def boxed(given: Message) -> Any:
    box = Any()
    box.Pack(given)
    return box


def order() -> Any:
    return boxed(order_pb2.Order(id="1"))
