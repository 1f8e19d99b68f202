import json

from google.protobuf import json_format

from order_pb2 import Order


def order(raw: str) -> Order:
    return json_format.Parse(json.dumps({"id": "1", "shipTo": raw}), Order())
