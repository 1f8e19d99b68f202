import payment_pb2


def value(p: payment_pb2.Payment) -> str:
    name = p.WhichOneof("how")
    return getattr(p, name) if name else ""
