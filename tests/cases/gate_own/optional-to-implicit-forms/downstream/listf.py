import user_pb2


def nick(raw: bytes) -> str:
    user = user_pb2.User.FromString(raw)
    return user.nick if user.nick else "anonymous"
