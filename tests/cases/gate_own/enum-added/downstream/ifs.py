import order_pb2
def f(o: order_pb2.Order) -> str:
    if o.s == order_pb2.S_OPEN:
        return "o"
    return "x"
