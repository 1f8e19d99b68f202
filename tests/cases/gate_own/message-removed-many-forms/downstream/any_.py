from google.protobuf import any_pb2

import shop_pb2


def is_coupon(box: any_pb2.Any) -> bool:
    return box.Is(shop_pb2.Coupon.DESCRIPTOR)
