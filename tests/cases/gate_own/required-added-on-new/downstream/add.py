from order_pb2 import Order
def f(rows: list) -> Order:
    o = Order(id="1")
    return o
