import box_pb2

DAYS = {box_pb2.CARRIER_UNSPECIFIED: 9, box_pb2.CARRIER_ROAD: 3}


def days(raw: bytes) -> int:
    return DAYS[box_pb2.Box.FromString(raw).carrier]
