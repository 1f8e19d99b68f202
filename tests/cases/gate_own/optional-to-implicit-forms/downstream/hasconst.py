import user_pb2

NICK = "nick"


def has(user: user_pb2.User) -> bool:
    return user.HasField(NICK)
