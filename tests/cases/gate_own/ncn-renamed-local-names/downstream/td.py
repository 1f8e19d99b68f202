from typing import NamedTuple, TypedDict

from host_pb2 import Host


class Row(TypedDict):
    label: str


class Point(NamedTuple):
    label: str
    x: int


def text(row: Row, point: Point, host: Host) -> str:
    return row["label"] + point.label + host.addr
