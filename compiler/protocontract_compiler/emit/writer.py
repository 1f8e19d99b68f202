"""A writer of indented source text: it owns indentation, so that no emitter counts spaces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class Writer:
    """Collects lines. ``block`` indents what is written inside of it."""

    def __init__(self, indent: str = "    ") -> None:
        self._lines: list[str] = []
        self._unit = indent
        self._depth = 0

    def line(self, text: str = "") -> None:
        """One line at the current depth; an empty one has no trailing spaces."""
        self._lines.append(f"{self._unit * self._depth}{text}" if text else "")

    def lines(self, texts: Iterable[str]) -> None:
        """Several lines at the current depth."""
        for text in texts:
            self.line(text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A line that opens a block (``if x:``), and the block. Python wants something in it: `pass`, at least."""
        self.line(head)
        start = self.size
        with self.indented():
            yield
            if self.size == start and head.endswith(":"):
                self.line("pass")

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Deeper by one step."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    @property
    def size(self) -> int:
        """Number of lines so far."""
        return len(self._lines)

    def text(self) -> str:
        """All lines, each ended by a line feed."""
        return "".join(f"{line}\n" for line in self._lines)
