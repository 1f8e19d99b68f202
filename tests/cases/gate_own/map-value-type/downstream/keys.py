from stock_pb2 import Stock


def names(stock: Stock) -> list:
    return sorted(stock.levels)
