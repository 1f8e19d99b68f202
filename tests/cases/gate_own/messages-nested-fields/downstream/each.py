from order_pb2 import Order


def mails(order: Order) -> set:
    return {other.mail for other in order.others}
