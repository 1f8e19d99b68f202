from google.protobuf.json_format import MessageToDict

from beat_pb2 import Beat


def at(raw: bytes) -> int:
    return int(MessageToDict(Beat.FromString(raw)).get("at", 0))
