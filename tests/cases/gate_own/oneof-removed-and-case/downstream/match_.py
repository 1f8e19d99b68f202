import payment_pb2


def how(p: payment_pb2.Payment) -> str:
    match p.WhichOneof("how"):
        case "iban":
            return "sepa"
        case "wallet":
            return "push"
        case _:
            return "other"
