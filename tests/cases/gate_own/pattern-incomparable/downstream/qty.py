from item_pb2 import Item


def qty(item: Item) -> int:
    return item.qty
