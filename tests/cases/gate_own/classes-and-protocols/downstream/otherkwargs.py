from order_pb2 import Order

FIELDS = ("id",)


def order(row: dict) -> Order:
    return Order(**{name: row[name] for name in FIELDS})
