"""What SQL does, as data: which keys of which tables it touches, and how.

``sql_tree`` finds it, ``sql`` knows what it means for a contract.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Left: TypeAlias = Mapping[str, tuple[int, int]]
"""The words of a statement that is left unread, in small letters, with line and column of the first of each."""

Way: TypeAlias = Literal["read", "has", "write", "open", "closed"]
"""``has``: asked whether it is NULL; ``open`` and ``closed``: CASE over its values, without ELSE and with it."""


class SqlError(Exception):
    """SQL that no dialect reads: what is wrong, with the line."""


@dataclass(frozen=True, slots=True)
class Key:
    """A column, a member of a struct or a key of JSON. Line 0: it is not written here but where it comes from."""

    text: str
    line: int = 0
    column: int = 0
    json: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table, by its name with what stands before it, in small letters; ``start`` is its offset in the text."""

    name: str
    line: int
    start: int

    @property
    def short(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]

    def is_called(self, name: str) -> bool:
        """Whether a name means this table: with as much before it as either of them has."""
        name = name.lower()
        return self.name == name or self.name.endswith(f".{name}") or name.endswith(f".{self.name}")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: keys of a table, or of a message that is named. ``sure``: from nowhere else."""

    table: Table | None
    keys: tuple[Key, ...]
    message: Key | None = None
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Constant:
    """What a value is compared with."""

    text: str
    is_text: bool
    line: int


@dataclass(frozen=True, slots=True)
class Access:
    """A value that is touched, from wherever it may come, and what it is compared with.

    For one that is written ``constants`` are what is written, where it is nothing but these (``exact``).
    """

    origins: tuple[Origin, ...]
    way: Way = "read"
    constants: tuple[Constant, ...] = ()
    line: int = 0
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Filled:
    """Rows that are put into a table: into these columns; empty where they are not named."""

    table: Table
    columns: tuple[str, ...] = ()


@dataclass
class Sql:
    """What the statements of a file do."""

    tables: list[Table] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    filled: list[Filled] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    #: Values that are read by a schema, with the names at its top.
    schemas: list[tuple[Origin, frozenset[str]]] = field(default_factory=list)
