from plot_pb2 import Plot


def label(raw: bytes) -> str:
    return str(Plot.FromString(raw).zip)
