from order_pb2 import Order
def f(o: Order) -> float:
    return 1 / o.qty
