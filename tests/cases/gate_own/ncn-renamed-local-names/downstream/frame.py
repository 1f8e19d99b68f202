import pandas as pd

from host_pb2 import Host


def labels(frame: pd.DataFrame) -> list:
    return list(frame["label"].str.lower()) + list(frame.label)


def addr(host: Host) -> str:
    return host.addr
