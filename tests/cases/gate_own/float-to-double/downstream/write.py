from score_pb2 import Score


def score() -> Score:
    return Score(label="a", value=0.5)
