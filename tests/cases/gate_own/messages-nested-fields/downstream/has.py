from order_pb2 import Order


def named(order: Order) -> bool:
    order.buyer.ClearField("mail")
    return bool(order.buyer.name)
