from headers_pb2 import Headers


def make(host: str) -> Headers:
    headers = Headers()
    headers.items["host"] = host
    return headers
