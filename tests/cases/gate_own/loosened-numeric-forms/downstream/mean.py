from sum_pb2 import Sum


def mean(s: Sum) -> float:
    return s.total / s.n
