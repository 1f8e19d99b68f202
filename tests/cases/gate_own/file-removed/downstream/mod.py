import legacy_pb2


def key(raw: bytes) -> str:
    return legacy_pb2.Legacy.FromString(raw).id
