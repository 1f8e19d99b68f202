from order_pb2 import Order


def name(order: Order) -> str:
    return order.buyer.name
