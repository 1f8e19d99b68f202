from refund_pb2 import Refund


def note(refund: Refund) -> str:
    return refund.note
