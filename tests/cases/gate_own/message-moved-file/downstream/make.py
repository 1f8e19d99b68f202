import order_pb2


def order(mail: str) -> order_pb2.Order:
    return order_pb2.Order(buyer=order_pb2.Buyer(mail=mail))
