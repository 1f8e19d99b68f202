from sum_pb2 import Sum


def total(s: Sum) -> float:
    return s.total
