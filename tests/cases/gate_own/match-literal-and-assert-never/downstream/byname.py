from box_pb2 import Box, Carrier

TEXT = {"CARRIER_UNSPECIFIED": "?", "CARRIER_ROAD": "by road"}


def text(box: Box) -> str:
    return TEXT[Carrier.Name(box.carrier)]
