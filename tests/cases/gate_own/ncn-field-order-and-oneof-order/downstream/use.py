import payment_pb2


def how(p: payment_pb2.Payment) -> str:
    return p.WhichOneof("how") or ""
