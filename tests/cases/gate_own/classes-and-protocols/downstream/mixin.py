from order_pb2 import Order


class Basket:
    coupon: str = ""

    def apply(self, order: Order) -> str:
        return self.coupon + order.id
