from k_pb2 import M


def length(m: M) -> int:
    match m.WhichOneof("payload"):
        case "text":
            return len(m.text)
        case "data" | "link":
            return 0
    raise ValueError


def shown(m: M) -> str:
    return {"text": "T", "data": "D", None: ""}[m.WhichOneof("payload")]
