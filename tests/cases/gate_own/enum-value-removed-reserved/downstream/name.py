from box_pb2 import Box, Carrier


def is_rail(box: Box) -> bool:
    return Carrier.Name(box.carrier) == "CARRIER_RAIL"
