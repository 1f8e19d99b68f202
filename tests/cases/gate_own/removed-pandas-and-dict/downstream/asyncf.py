from order_pb2 import Order
async def get(raw: bytes) -> Order:
    return Order.FromString(raw)
async def f(raw: bytes) -> str:
    return (await get(raw)).coupon
