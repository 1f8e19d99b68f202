from doc_pb2 import Doc


def doc() -> Doc:
    return Doc(version="1.0")
