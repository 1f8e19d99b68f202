import shop_pb2
import shop_pb2_grpc


def eta(channel) -> int:
    call = shop_pb2_grpc.ShopStub(channel).Get.future(shop_pb2.Ask(id="1"))
    return call.result().eta
