from typing import assert_never

from box_pb2 import CARRIER_ROAD, CARRIER_UNSPECIFIED, Box


def days(box: Box) -> int:
    if box.carrier == CARRIER_ROAD:
        return 3
    elif box.carrier == CARRIER_UNSPECIFIED:
        return 9
    else:
        assert_never(box.carrier)
