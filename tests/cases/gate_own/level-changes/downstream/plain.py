from beat_pb2 import Beat


def key(beat: Beat) -> str:
    return beat.id
