from box_pb2 import Box


def is_rail(box: Box) -> bool:
    return box.carrier == 2
