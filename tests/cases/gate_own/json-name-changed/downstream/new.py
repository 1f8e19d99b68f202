from google.protobuf.json_format import MessageToDict

from login_pb2 import Login


def who(raw: bytes) -> str:
    return MessageToDict(Login.FromString(raw))["login"]
