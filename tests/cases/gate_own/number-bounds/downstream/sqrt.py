import math
from order_pb2 import Order
def f(o: Order) -> float:
    return math.sqrt(o.q)
