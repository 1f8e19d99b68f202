from google.protobuf.json_format import MessageToDict

import person_pb2


def born(raw: bytes) -> int:
    return int(MessageToDict(person_pb2.Person.FromString(raw))["born"])
