from google.protobuf.field_mask_pb2 import FieldMask

from order_pb2 import Order


def mask(order: Order) -> FieldMask:
    return FieldMask(paths=["id", "buyer.mail"])
