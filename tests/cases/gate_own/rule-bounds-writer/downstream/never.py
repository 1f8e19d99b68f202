from item_pb2 import Item


def none() -> Item:
    return Item(code="A")
