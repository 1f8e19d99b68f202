from shop.v1.order_pb2 import Order


def show(order: Order) -> str:
    return order.id
