from plot_pb2 import Plot


def label(raw: bytes) -> str:
    return f"{Plot.FromString(raw).zip:05d}"
