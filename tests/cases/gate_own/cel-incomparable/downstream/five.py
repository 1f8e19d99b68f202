from sum_pb2 import Sum


def five() -> Sum:
    return Sum(cents=5)
