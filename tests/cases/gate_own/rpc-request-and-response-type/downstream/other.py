import shop_pb2


def key(raw: bytes) -> str:
    return shop_pb2.Ask.FromString(raw).id
