from item_pb2 import Item

LIMIT = 1000


def item(n: int) -> Item:
    return Item(code="A", qty=min(n, LIMIT))
