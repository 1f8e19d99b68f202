from plot_pb2 import Plot


def plot(key: str, code: str) -> Plot:
    plot = Plot(id=key)
    plot.zip = code
    return plot
