from item_pb2 import Item


def item(n: int) -> Item:
    return Item(code=str(n))
