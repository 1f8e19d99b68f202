from order_pb2 import Order


def n(order: Order) -> int:
    return order.qty
