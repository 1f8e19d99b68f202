import order_pb2


def mail(raw: bytes) -> str:
    return order_pb2.Order.FromString(raw).buyer.mail
