from item_pb2 import Item


def part(item: Item) -> float:
    return 100 / item.qty
