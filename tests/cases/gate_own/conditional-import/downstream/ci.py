try:
    import order_pb2
except ImportError:
    order_pb2 = None
def f(raw: bytes) -> str:
    return order_pb2.Order.FromString(raw).coupon
