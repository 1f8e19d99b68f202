from order_pb2 import Legacy, Order


def key(order: Order) -> str:
    return order.id
