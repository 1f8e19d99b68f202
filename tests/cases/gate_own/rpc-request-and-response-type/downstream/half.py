import shop_pb2
import shop_pb2_grpc


def get(channel, key: str) -> str:
    stub = shop_pb2_grpc.ShopStub(channel)
    reply = stub.Get(shop_pb2.Query(key=key))
    return reply.id
