from payment_pb2 import Payment


def sepa(key: str, iban: str) -> Payment:
    return Payment(id=key, iban=iban)
