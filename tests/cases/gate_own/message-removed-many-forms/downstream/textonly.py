from google.protobuf import descriptor_pool, message_factory

NAME = "shop.v1.Coupon"


def kind():
    return message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(NAME))
