import shop_pb2
import shop_pb2_grpc


async def etas(channel) -> list:
    stub = shop_pb2_grpc.ShopStub(channel)
    found = []
    async for reply in stub.Watch(shop_pb2.Ask(id="1")):
        found.append(reply.eta)
    return found
