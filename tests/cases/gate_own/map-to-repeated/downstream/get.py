from headers_pb2 import Headers


def host(raw: bytes) -> str:
    return Headers.FromString(raw).items["host"]
