from sum_pb2 import Sum


def rows(s: Sum) -> str:
    return bytes(s.n).hex()
