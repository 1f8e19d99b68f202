from shop.v1.order_pb2 import Box


def make(name, send):
    send(Box(id=name))
