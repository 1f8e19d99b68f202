from order_pb2 import Order
def f(row: dict) -> Order:
    return Order(**row)
