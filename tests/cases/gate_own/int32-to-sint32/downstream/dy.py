from delta_pb2 import Delta


def dy(raw: bytes) -> int:
    return Delta.FromString(raw).dy
