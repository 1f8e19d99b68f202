from item_pb2 import Item


def numbers(items: list[Item], item: Item | None) -> list[str]:
    return [each.code[1:] for each in [*items, item] if each is not None]
