from item_pb2 import Item


def item() -> Item:
    return Item(code="12AB")
