from order_pb2 import Order
def f(o: Order) -> int:
    if o.code == "a":
        return 1
    if o.code == "b":
        return 2
    raise ValueError("unexpected")
