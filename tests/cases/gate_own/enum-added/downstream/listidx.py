import order_pb2
NAMES = ["u", "o"]
def f(o: order_pb2.Order) -> str:
    return NAMES[o.s]
