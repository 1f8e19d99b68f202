import shop_pb2
import shop_pb2_grpc


def purge(channel) -> None:
    shop_pb2_grpc.AdminStub(channel).Purge(shop_pb2.Ask(id="1"))
