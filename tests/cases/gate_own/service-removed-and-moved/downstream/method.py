import shop_pb2_grpc


class Client:
    def __init__(self, channel) -> None:
        self.stub = shop_pb2_grpc.ShopStub(channel)
        self.drop = self.stub.Drop
