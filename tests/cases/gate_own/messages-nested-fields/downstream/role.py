from order_pb2 import Order


def mail(order: Order) -> str:
    return order.by_role["payer"].mail
