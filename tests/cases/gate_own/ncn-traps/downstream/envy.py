import json

from google.protobuf.json_format import MessageToDict

from order_pb2 import Order


def merged(order: Order, path: str) -> dict:
    with open(path) as file:
        settings: dict[str, str] = json.load(file)
    return {**MessageToDict(order), "version": settings["code"]}
