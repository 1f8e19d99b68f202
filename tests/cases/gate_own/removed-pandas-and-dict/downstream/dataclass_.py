from dataclasses import dataclass
from order_pb2 import Order
@dataclass
class Row:
    order: Order
    def c(self) -> str:
        return self.order.coupon
