from shop.v1.order_pb2 import Gift


def make(name, send):
    send(Gift(id=name))
