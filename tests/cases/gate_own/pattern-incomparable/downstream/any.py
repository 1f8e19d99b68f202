from item_pb2 import Item


def lower(item: Item) -> str:
    return item.code.lower()
