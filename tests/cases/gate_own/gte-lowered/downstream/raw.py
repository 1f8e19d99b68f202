from order_pb2 import Order
def f(raw: bytes) -> float:
    return 1 / Order.FromString(raw).qty
