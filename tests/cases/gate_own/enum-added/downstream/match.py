import order_pb2
def f(o: order_pb2.Order) -> str:
    match o.s:
        case order_pb2.S_UNSPECIFIED:
            return "u"
        case order_pb2.S_OPEN:
            return "o"
    raise ValueError("state")
