from beat_pb2 import Beat


def beat() -> Beat:
    return Beat(at=7)
