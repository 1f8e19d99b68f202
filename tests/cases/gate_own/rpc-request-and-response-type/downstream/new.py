import shop_pb2
import shop_pb2_grpc


def get(channel, key: str) -> str:
    return shop_pb2_grpc.ShopStub(channel).Get(shop_pb2.Query(key=key)).text
