from order_pb2 import Order


def order(sku: str) -> Order:
    made = Order()
    made.lines.add(sku=sku)
    return made
