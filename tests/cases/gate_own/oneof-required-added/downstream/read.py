from payment_pb2 import Payment


def how(p: Payment) -> str:
    return p.WhichOneof("how") or ""
