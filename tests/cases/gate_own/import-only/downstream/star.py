from order_pb2 import *


def key(order: Order) -> str:
    return order.id
