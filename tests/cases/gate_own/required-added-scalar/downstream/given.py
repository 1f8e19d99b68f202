from item_pb2 import Item


def item(code: str, n: int) -> Item:
    return Item(code=code or "NONE", qty=n)
