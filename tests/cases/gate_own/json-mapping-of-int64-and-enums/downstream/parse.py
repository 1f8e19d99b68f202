from google.protobuf.json_format import ParseDict

from order_pb2 import Order


def sent(key: str) -> Order:
    return ParseDict({"id": key, "state": "STATE_SENT"}, Order())
