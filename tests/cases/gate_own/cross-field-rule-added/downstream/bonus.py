from refund_pb2 import Refund


def bonus(paid: int) -> Refund:
    return Refund(paid=paid, refunded=paid + 100)
