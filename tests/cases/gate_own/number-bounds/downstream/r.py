from order_pb2 import Order
def f(o: Order) -> int:
    return o.q + 1
