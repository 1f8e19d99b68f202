from order_pb2 import Order


def code(order: Order) -> str:
    for field, value in order.ListFields():
        if field.name == "coupon":
            return value
    return ""
