from item_pb2 import Item


def item(n: int) -> Item:
    return Item(qty=n)
