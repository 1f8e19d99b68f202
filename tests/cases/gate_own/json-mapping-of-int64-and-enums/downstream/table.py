from google.protobuf.json_format import MessageToDict

from order_pb2 import Order

TEXT = {"STATE_SENT": "on its way"}


def text(raw: bytes) -> str:
    return TEXT.get(MessageToDict(Order.FromString(raw)).get("state"), "open")
