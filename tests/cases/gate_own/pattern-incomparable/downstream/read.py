from item_pb2 import Item


def number(item: Item) -> int:
    return int(item.code[2:])
