from plot_pb2 import Plot


def key(raw: bytes) -> str:
    return Plot.FromString(raw).id
