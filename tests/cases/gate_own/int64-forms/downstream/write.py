from beat_pb2 import Beat


def beat(at: int) -> Beat:
    return Beat(at=at % 1000)
