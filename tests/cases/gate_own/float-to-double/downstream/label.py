from score_pb2 import Score


def label(raw: bytes) -> str:
    return Score.FromString(raw).label
