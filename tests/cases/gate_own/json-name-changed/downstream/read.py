from login_pb2 import Login


def who(raw: bytes) -> str:
    return Login.FromString(raw).user_name
