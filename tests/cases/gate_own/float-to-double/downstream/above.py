from score_pb2 import Score


def above(raw: bytes) -> bool:
    return Score.FromString(raw).value > 0.5
