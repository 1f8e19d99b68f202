import shop_pb2
import shop_pb2_grpc


async def key(channel) -> str:
    reply = await shop_pb2_grpc.ShopStub(channel).Get(shop_pb2.Ask(id="1"))
    return reply.id
