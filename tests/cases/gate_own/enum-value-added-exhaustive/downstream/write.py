import box_pb2


def road() -> box_pb2.Box:
    return box_pb2.Box(carrier=box_pb2.CARRIER_ROAD)
