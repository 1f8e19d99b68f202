import payment_pb2


def value(p: payment_pb2.Payment) -> str:
    case = p.WhichOneof("how")
    return getattr(p, case) if case else ""
