from order_pb2 import Order
def f(o: Order) -> str:
    sub = o.sub
    return sub.y
