from order_pb2 import Order
def f(o: Order) -> Order:
    c = Order()
    c.CopyFrom(o)
    return c
