from order_pb2 import Line, Order


def order(sku: str) -> Order:
    return Order(lines=[Line(sku=sku)])
