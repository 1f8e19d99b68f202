from google.protobuf.json_format import MessageToDict

from login_pb2 import Login


def who(raw: bytes) -> str:
    return MessageToDict(Login.FromString(raw), preserving_proto_field_name=True)["user_name"]
