import uuid
from order_pb2 import Order
def f(o: Order) -> str:
    return str(uuid.UUID(o.code))
