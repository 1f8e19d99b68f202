import protovalidate

from span_pb2 import Span


def reversed_(span: Span) -> bool:
    return any(v.proto.rule_id == "span.order" for v in protovalidate.collect_violations(span))
