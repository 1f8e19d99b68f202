import payment_pb2


def names() -> list:
    return [f.name for f in payment_pb2.Payment.DESCRIPTOR.fields]
