import acc_pb2

RANKS = ["base", "silver"]


def rank(raw: bytes) -> str:
    return RANKS[acc_pb2.Account.FromString(raw).level]
