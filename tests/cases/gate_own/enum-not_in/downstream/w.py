import order_pb2
def f() -> order_pb2.Order:
    return order_pb2.Order()
