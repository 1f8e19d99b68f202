from google.protobuf import field_mask_pb2
from order_pb2 import Order
def f(o: Order) -> object:
    return field_mask_pb2.FieldMask(paths=["coupon"])
