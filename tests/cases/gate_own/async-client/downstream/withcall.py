import shop_pb2
import shop_pb2_grpc


def eta(channel) -> int:
    reply, _ = shop_pb2_grpc.ShopStub(channel).Get.with_call(shop_pb2.Ask(id="1"))
    return reply.eta
