from payment_pb2 import Payment


def open_(key: str) -> Payment:
    return Payment(id=key)
