from order_pb2 import Order


def f(orders: list[Order]) -> bool:
    return len(orders) > 100 and orders[0].id != ""
