import json

from google.protobuf.json_format import MessageToJson

from beat_pb2 import Beat


def late(raw: bytes) -> bool:
    return json.loads(MessageToJson(Beat.FromString(raw)))["at"] > 100
