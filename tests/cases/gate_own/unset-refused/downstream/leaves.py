from shop.v1.order_pb2 import Order


def make(name, send):
    send(Order(id=name))
