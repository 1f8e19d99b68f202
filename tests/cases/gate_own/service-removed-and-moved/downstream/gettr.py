import shop_pb2
import shop_pb2_grpc


def call(channel, key: str):
    stub = shop_pb2_grpc.ShopStub(channel)
    return getattr(stub, "Drop")(shop_pb2.Ask(id=key))
