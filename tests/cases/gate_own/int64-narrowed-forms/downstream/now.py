import time

from beat_pb2 import Beat


def beat() -> Beat:
    return Beat(at=int(time.time() * 1000))
