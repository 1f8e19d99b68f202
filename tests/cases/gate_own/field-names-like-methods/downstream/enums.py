import enum
import pathlib

from page_pb2 import Page


class Kind(enum.Enum):
    A = 1


def text(path: pathlib.Path, page: Page) -> str:
    return path.name + Kind.A.name + Page.__name__ + page.id
