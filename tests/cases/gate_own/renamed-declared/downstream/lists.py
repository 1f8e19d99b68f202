from order_pb2 import Order


def n(orders: list[Order], one: Order) -> int:
    return orders.count(one)
