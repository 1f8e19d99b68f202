import user_pb2


def key(user: user_pb2.User) -> str:
    return user.id
