from labels_pb2 import Labels


def make(value: str) -> Labels:
    labels = Labels()
    labels.items["trace"] = value[:63]
    return labels
