from order_pb2 import Order


def row(order: Order) -> dict:
    return {field.name: value for field, value in order.ListFields()}
