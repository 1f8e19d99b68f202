from box_pb2 import Carrier


def names() -> list:
    return list(Carrier.keys())
