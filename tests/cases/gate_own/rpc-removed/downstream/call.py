import order_pb2, order_pb2_grpc
def f(channel):
    stub = order_pb2_grpc.ShopStub(channel)
    return stub.Get(order_pb2.Order(id="1"))
