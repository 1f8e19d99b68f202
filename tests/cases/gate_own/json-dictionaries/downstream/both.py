from google.protobuf.json_format import ParseDict

from order_pb2 import Order


def order(place: str) -> Order:
    return ParseDict({"id": "1", "deliverTo": place}, Order())
