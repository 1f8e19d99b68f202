from box_pb2 import Box


def box() -> Box:
    return Box()
