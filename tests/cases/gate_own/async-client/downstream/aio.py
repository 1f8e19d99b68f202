import grpc

import shop_pb2
import shop_pb2_grpc


async def eta(address: str) -> int:
    async with grpc.aio.insecure_channel(address) as channel:
        stub = shop_pb2_grpc.ShopStub(channel)
        reply = await stub.Get(shop_pb2.Ask(id="1"))
        return reply.eta
