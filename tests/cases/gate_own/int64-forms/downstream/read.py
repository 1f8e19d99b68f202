from beat_pb2 import Beat


def later(raw: bytes) -> int:
    return Beat.FromString(raw).at + 60
