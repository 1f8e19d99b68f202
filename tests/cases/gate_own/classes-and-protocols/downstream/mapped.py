from order_pb2 import Order


def codes(raws: list) -> list:
    orders = map(Order.FromString, raws)
    return sorted(orders, key=lambda order: order.coupon)
