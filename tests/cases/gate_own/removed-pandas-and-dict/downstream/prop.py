from order_pb2 import Order
class W:
    def __init__(self, raw):
        self._o = Order.FromString(raw)
    @property
    def order(self):
        return self._o
def f(raw: bytes) -> str:
    return W(raw).order.coupon
