from google.protobuf.json_format import ParseDict

from login_pb2 import Login


def login(name: str) -> Login:
    return ParseDict({"userName": name}, Login())
