from sum_pb2 import Sum


def rest(raw: bytes) -> int:
    return 100 % Sum.FromString(raw).n
