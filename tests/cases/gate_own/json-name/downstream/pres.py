from google.protobuf.json_format import MessageToDict
from order_pb2 import Order
def f(raw: bytes) -> str:
    return MessageToDict(Order.FromString(raw), preserving_proto_field_name=True)["order_id"]
