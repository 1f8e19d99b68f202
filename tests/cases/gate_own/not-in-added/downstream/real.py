from item_pb2 import Item


def real() -> Item:
    return Item(code="A1")
