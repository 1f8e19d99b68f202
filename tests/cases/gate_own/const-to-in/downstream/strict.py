from doc_pb2 import Doc


def body(doc: Doc) -> str:
    if doc.version != 1:
        raise ValueError("version")
    return doc.body
