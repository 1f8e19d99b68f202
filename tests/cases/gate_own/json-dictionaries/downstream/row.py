import json

from google.protobuf.json_format import MessageToJson

from order_pb2 import Order


def place(raw: bytes) -> str:
    row = json.loads(MessageToJson(Order.FromString(raw)))
    return row.get("shipTo", "nowhere")
