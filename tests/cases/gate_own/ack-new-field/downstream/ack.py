from order_pb2 import Order
# contract-ack: shop.v1.Order.confidence_score added (not needed here)
def f(raw: bytes) -> str:
    return Order.FromString(raw).id
