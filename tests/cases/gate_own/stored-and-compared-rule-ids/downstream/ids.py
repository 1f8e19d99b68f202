import protovalidate

from item_pb2 import Item


def short(item: Item) -> bool:
    return any(v.proto.rule_id == "string.min_len" for v in protovalidate.collect_violations(item))
