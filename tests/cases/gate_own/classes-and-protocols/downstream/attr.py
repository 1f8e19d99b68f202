from order_pb2 import Order


class Cart:
    def __init__(self, order: Order) -> None:
        self.order = order

    def code(self) -> str:
        return self.order.coupon
