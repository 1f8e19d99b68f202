from typing import Optional
from order_pb2 import Order
def f(o: Optional[Order]) -> str:
    return o.coupon if o is not None else ""
