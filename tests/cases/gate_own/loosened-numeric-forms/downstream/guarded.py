from sum_pb2 import Sum


def mean(s: Sum) -> float:
    return s.total / s.n if s.n > 0 else 0.0
