from item_pb2 import Item


def total(items: list) -> int:
    return sum(Item.FromString(raw).qty for raw in items)
