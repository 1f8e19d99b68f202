import box_pb2


def rail() -> box_pb2.Box:
    return box_pb2.Box(carrier=box_pb2.Carrier.Value("CARRIER_RAIL"))
