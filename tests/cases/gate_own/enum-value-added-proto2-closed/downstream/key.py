import acc_pb2


def key(raw: bytes) -> str:
    return acc_pb2.Account.FromString(raw).id
