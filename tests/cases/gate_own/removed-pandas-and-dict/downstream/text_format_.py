from google.protobuf import text_format
from order_pb2 import Order
def f() -> Order:
    return text_format.Parse('id: "1" coupon: "x"', Order())
