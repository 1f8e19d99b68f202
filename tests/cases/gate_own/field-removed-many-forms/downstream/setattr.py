from order_pb2 import Order
def f(o: Order, k: dict) -> None:
    for name, value in k.items():
        setattr(o, name, value)
