from collections.abc import Iterable
from typing import Optional

from item_pb2 import Item


def numbers(items: Iterable[Item]) -> list[int]:
    return [int(item.code[1:]) for item in items]


def number(item: Optional[Item]) -> int:
    return 0 if item is None else int(item.code[1:])
