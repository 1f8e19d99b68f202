from order_pb2 import Order
def f(raw: bytes) -> str:
    o = Order.FromString(raw)
    return o.b if hasattr(o, "b") else o.a
