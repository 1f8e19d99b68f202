from order_pb2 import Order
def f(raw: bytes) -> Order:
    o = Order()
    o.ParseFromString(raw)
    return o
