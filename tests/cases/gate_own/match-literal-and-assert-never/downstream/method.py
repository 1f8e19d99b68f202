from box_pb2 import CARRIER_ROAD, Box


def road(box: Box) -> str:
    return "road"


HANDLERS = {CARRIER_ROAD: road}


def handle(box: Box) -> str:
    return HANDLERS[box.carrier](box)
