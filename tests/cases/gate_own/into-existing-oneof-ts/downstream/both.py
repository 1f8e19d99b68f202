import payment_pb2


def pay(iban: str, card: str) -> payment_pb2.Payment:
    return payment_pb2.Payment(id="1", iban=iban, card=card)
