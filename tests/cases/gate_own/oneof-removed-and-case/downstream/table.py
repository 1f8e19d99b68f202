import payment_pb2

FEES = {"iban": 0, "wallet": 5}


def fee(p: payment_pb2.Payment) -> int:
    return FEES.get(p.WhichOneof("how"), 9)
