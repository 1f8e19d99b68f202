import payment_pb2


def card(p: payment_pb2.Payment) -> str:
    return p.card if p.WhichOneof("how") == "card" else ""
