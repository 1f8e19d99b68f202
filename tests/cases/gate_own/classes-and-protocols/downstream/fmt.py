from order_pb2 import Order


def text(order: Order) -> str:
    return "{o.id}: {o.coupon}".format(o=order)
