from labels_pb2 import Labels


def trace(labels: Labels) -> str:
    return labels.items["trace"]
