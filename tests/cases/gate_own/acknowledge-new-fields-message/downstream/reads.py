from hit_pb2 import Hit


def key(raw: bytes) -> str:
    return Hit.FromString(raw).id
