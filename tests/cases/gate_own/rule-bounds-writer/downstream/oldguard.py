from item_pb2 import Item

LIMIT = 500


def item(code: str, n: int) -> Item:
    if n > LIMIT:
        raise ValueError("too many")
    return Item(code=code, qty=n)
