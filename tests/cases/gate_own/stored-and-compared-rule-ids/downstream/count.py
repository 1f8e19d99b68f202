import protovalidate

from item_pb2 import Item


def good(item: Item) -> bool:
    return not protovalidate.collect_violations(item)
