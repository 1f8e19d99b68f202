from doc_pb2 import Doc


def doc(body: str) -> Doc:
    return Doc(version=1, body=body)
