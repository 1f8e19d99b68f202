from refund_pb2 import Refund


def full(paid: int) -> Refund:
    return Refund(paid=paid, refunded=paid)
