import box_pb2


def days(raw: bytes) -> int:
    carrier = box_pb2.Box.FromString(raw).carrier
    if carrier == box_pb2.CARRIER_ROAD:
        return 3
    elif carrier == box_pb2.CARRIER_UNSPECIFIED:
        return 9
    else:
        raise ValueError("unknown carrier")
