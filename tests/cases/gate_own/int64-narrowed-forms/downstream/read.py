from beat_pb2 import Beat


def at(beat: Beat) -> int:
    return beat.at
