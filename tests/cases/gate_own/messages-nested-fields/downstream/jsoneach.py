from google.protobuf.json_format import MessageToDict

from order_pb2 import Order


def mails(order: Order) -> list:
    return [other.get("mail") for other in MessageToDict(order).get("others", [])]
