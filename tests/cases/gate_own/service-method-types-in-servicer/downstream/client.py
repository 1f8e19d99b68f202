import shop_pb2
import shop_pb2_grpc


class Client:
    def __init__(self, channel):
        self._stub = shop_pb2_grpc.ShopStub(channel)

    def count(self, key: str) -> int:
        return self._stub.List(shop_pb2.Ask(id=key)).total
