from item_pb2 import Item


def item(code: str) -> Item:
    return Item(code=code)
