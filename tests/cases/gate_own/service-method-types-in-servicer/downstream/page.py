import shop_pb2


def page(raw: bytes) -> int:
    return shop_pb2.Ask.FromString(raw).page
