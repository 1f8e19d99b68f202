from stock_pb2 import Stock


def total(stock: Stock) -> int:
    return sum(stock.levels.values())
