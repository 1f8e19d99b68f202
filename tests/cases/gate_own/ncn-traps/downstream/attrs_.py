import requests

from order_pb2 import Order


def get(url: str) -> Order:
    reply = requests.get(url)
    return Order(id=reply.text)
