from order_pb2 import Order

FIELDS = ["id", "coupon"]


def order(row: dict) -> Order:
    made = Order()
    for name in FIELDS:
        setattr(made, name, row[name])
    return made
