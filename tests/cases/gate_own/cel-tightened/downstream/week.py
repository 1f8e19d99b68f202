from span_pb2 import Span


def week() -> Span:
    return Span(start=0, end=604800)
