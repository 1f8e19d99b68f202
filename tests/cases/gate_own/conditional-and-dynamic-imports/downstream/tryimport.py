try:
    import order_pb2
except ImportError:
    order_pb2 = None


def code(raw: bytes) -> str:
    if order_pb2 is None:
        return ""
    return order_pb2.Order.FromString(raw).coupon
