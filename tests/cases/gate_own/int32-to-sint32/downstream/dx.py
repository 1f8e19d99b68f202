from delta_pb2 import Delta


def dx(raw: bytes) -> int:
    return Delta.FromString(raw).dx
