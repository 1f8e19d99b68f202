from order_pb2 import Order
# contract-ack: shop.v1.Order.amount@currency EUR->USD (converted)
def f(o: Order) -> float:
    return o.amount
