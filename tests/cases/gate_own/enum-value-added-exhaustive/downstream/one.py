import box_pb2


def is_road(raw: bytes) -> bool:
    return box_pb2.Box.FromString(raw).carrier == box_pb2.CARRIER_ROAD
