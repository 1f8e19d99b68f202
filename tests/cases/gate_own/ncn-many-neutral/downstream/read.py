from item_pb2 import Item


def head(item: Item) -> str:
    return item.code[0]
