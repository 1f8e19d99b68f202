import payment_pb2


def row(p: payment_pb2.Payment) -> dict:
    return {f.name: getattr(p, f.name) for f, _ in p.ListFields()}
