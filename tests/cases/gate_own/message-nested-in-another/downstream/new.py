from order_pb2 import Order


def order(sku: str) -> Order:
    return Order(lines=[Order.Line(sku=sku)])
