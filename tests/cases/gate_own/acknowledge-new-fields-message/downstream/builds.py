from hit_pb2 import Hit


def hit(key: str) -> Hit:
    return Hit(id=key)
