from hit_pb2 import Hit

# contract-ack: ml.v1.Hit.score added (sorted by id here)


def key(raw: bytes) -> str:
    return Hit.FromString(raw).id
