import time

from beat_pb2 import Beat

DEAD_AFTER = 600


def dead(beat: Beat, seen: float) -> bool:
    return bool(beat.id) and time.time() - seen > DEAD_AFTER
