import protovalidate

from span_pb2 import Span


def bad(span: Span) -> int:
    return len(protovalidate.collect_violations(span))
