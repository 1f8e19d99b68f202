from stock_pb2 import Stock


def stock(n: int) -> Stock:
    made = Stock()
    made.levels["a"] = n
    return made
