from doc_pb2 import Doc


def check(doc: Doc) -> str:
    if doc.version != "1.0":
        raise ValueError("unknown version")
    return "ok"
