import payment_pb2


def is_wallet(p: payment_pb2.Payment) -> bool:
    return p.HasField("wallet")
