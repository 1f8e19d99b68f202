from plot_pb2 import Plot


def plot(key: str, number: int) -> Plot:
    return Plot(id=key, zip=number)
