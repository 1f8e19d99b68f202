from google.protobuf.json_format import MessageToDict

from order_pb2 import Order


def mail(order: Order) -> str:
    return MessageToDict(order)["buyer"]["mail"]
