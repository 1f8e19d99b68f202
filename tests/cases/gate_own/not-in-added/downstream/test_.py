from item_pb2 import Item


def fake() -> Item:
    return Item(code="TEST")
