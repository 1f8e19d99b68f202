from order_pb2 import Order


def done(order: Order) -> bool:
    return order.state == 1
