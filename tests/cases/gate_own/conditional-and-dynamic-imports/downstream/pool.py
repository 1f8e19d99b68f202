from google.protobuf import descriptor_pool, message_factory

import order_pb2  # noqa: F401


def code(raw: bytes) -> str:
    descriptor = descriptor_pool.Default().FindMessageTypeByName("shop.v1.Order")
    return message_factory.GetMessageClass(descriptor).FromString(raw).coupon
