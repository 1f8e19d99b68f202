from box_pb2 import CARRIER_ROAD, Box


def box() -> Box:
    return Box(carrier=CARRIER_ROAD)
