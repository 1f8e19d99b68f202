from order_pb2 import Order


def text(order: Order) -> str:
    return f"{order.id}: {order.coupon!r}"
