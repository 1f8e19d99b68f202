from google.protobuf.json_format import ParseDict
from order_pb2 import Order
def f(x: str) -> Order:
    return ParseDict({"id": x, "coupon": "c"}, Order())
