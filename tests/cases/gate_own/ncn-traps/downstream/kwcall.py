from order_pb2 import Order


def send(*, code: str, name: str) -> str:
    return code + name


def go(order: Order) -> str:
    return send(code="1", name=order.name)
