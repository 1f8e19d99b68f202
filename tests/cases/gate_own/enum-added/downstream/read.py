import order_pb2
def f(o: order_pb2.Order) -> str:
    return o.id
