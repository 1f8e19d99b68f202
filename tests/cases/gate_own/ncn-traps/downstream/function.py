from order_pb2 import Order


def where(order: Order) -> str:
    return where.__code__.co_filename + order.id
