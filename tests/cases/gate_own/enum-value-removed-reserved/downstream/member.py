from box_pb2 import Box, Carrier


def is_rail(box: Box) -> bool:
    return box.carrier == Carrier.CARRIER_RAIL
