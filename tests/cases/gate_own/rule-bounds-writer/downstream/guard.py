from item_pb2 import Item


def item(n: int) -> Item:
    if n > 100:
        raise ValueError("too many")
    return Item(code="A", qty=n)
