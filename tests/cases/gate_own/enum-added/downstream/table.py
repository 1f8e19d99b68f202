import order_pb2
T = {order_pb2.S_UNSPECIFIED: "u", order_pb2.S_OPEN: "o"}
def f(o: order_pb2.Order) -> str:
    return T[o.s]
