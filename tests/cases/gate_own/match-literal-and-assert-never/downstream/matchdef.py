import box_pb2


def days(box: box_pb2.Box) -> int:
    match box.carrier:
        case box_pb2.CARRIER_ROAD:
            return 3
        case _:
            return 9
