import time
from order_pb2 import Order
MAX_AGE = 60
def f(o: Order, sent: float) -> bool:
    return time.time() - sent > MAX_AGE
