import shop_pb2
import shop_pb2_grpc


def drop(channel, key: str) -> str:
    return shop_pb2_grpc.ShopStub(channel).Drop(shop_pb2.Ask(id=key)).id
