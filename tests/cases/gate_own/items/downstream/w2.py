from order_pb2 import Order
def f(x: str) -> Order:
    o = Order()
    o.tags.extend([x, x])
    return o
