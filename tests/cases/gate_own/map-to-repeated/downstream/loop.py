from headers_pb2 import Headers


def host(raw: bytes) -> str:
    for pair in Headers.FromString(raw).items:
        if pair.key == "host":
            return pair.value
    return ""
