from item_pb2 import Item


def one() -> Item:
    return Item(code="A", qty=1)
