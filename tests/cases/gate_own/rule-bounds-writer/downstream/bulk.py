from item_pb2 import Item


def bulk() -> Item:
    return Item(code="A", qty=500)
