"""Breaks long lines of emitted code, so that a reviewer can read them: conditions of Python at their operators, all
other lines at the commas of the outermost brackets. A comment at the end of a long line goes above it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

WIDTH = 110
# Further in, pieces would be read less well than a long line.
_DEEPEST = 64
_OPENING, _CLOSING = "([{", ")]}"
_CONDITION = re.compile(r" *(?:if|elif) (?=.*:$)")


@dataclass(frozen=True, slots=True)
class Style:
    """What a language's lines are broken by: a step of indentation, what starts a comment, what stays as it is."""

    step: str
    comment: str
    whole: re.Pattern[str]


PYTHON = Style("    ", "#", re.compile(r"\s*#"))
# Lines of a documentation comment, and those with a regular expression, whose brackets are none.
TYPESCRIPT = Style("  ", "//", re.compile(r"\s*(?:/?\*|//)|.* = /(?![*/])"))


@dataclass(slots=True)
class _Brackets:
    """A pair of brackets: where it opens and closes, and the commas directly in it."""

    start: int
    end: int = -1
    commas: list[int] = field(default_factory=list)
    comprehension: bool = False
    #: The pair that closed last in it.
    inner: _Brackets | None = None

    def to_break(self) -> _Brackets:
        """The pair itself, or the one that is all there is in it: ``f({ a, b })`` is broken in the braces."""
        inner = self.inner
        if inner is None or inner.start != self.start + 1 or inner.end != self.end - 1:
            return self
        return inner.to_break()


def laid_out(source: str, style: Style = PYTHON) -> str:
    """The source with its long lines broken. A line that has nothing to break it at stays as it is."""
    return "".join(f"{line}\n" for long in source.splitlines() for line in _broken(long, style))


def _broken(line: str, style: Style) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip())]
    if len(line) <= WIDTH or len(indent) > _DEEPEST or style.whole.match(line):
        yield line
        return
    marks = _Marks(line, style.comment)
    if marks.comment >= 0:
        # The comment goes above the line, which may then be short enough.
        yield f"{indent}{line[marks.comment :]}"
        yield from _broken(line[: marks.comment].rstrip(), style)
    elif marks.operators and (head := _CONDITION.match(line)):
        start = head.end()
        cuts = [start, *(place for place in marks.operators if place > start), len(line) - 1]
        yield f"{indent}{head.group().strip()} ("
        for a, b in pairwise(cuts):
            yield from _broken(f"{indent}{style.step}{line[a:b].strip()}", style)
        yield f"{indent}):"
    elif marks.brackets is not None:
        yield from _unfolded(line, indent, marks.brackets.to_break(), style)
    else:
        yield line


def _unfolded(line: str, indent: str, found: _Brackets, style: Style) -> Iterator[str]:
    """What is in the brackets on lines of its own."""
    # The commas of a comprehension separate no items: `for key, value in ...`.
    commas = [] if found.comprehension else found.commas
    cuts = zip([found.start, *commas], [*commas, found.end], strict=True)
    parts = [part for part in (line[a + 1 : b].strip() for a, b in cuts) if part]
    if not parts:
        yield line
        return
    yield line[: found.start + 1]
    # A tuple of one keeps its comma; a comprehension must not get one.
    trailing = "," if commas else ""
    together = f"{indent}{style.step}{', '.join(parts)}"
    if len(together) <= WIDTH and not (trailing and len(parts) == 1):
        yield together
    else:
        for part in parts:
            yield from _broken(f"{indent}{style.step}{part}{trailing}", style)
    yield f"{indent}{line[found.end :]}"


class _Marks:
    """Where a line can be broken.

    ``brackets`` are the last of the outermost ones that are no index, ``comment`` is where a comment starts (-1 without
    one), ``operators`` are the ``or`` (where there is none, the ``and``) outside of all brackets.
    """

    def __init__(self, line: str, comment: str) -> None:
        self.brackets: _Brackets | None = None
        self.comment = -1
        found: dict[str, list[int]] = {" and ": [], " or ": []}
        open_: list[_Brackets] = []
        quote = ""
        place = 0
        while place < len(line):
            char = line[place]
            if quote:
                if char == "\\":
                    place += 1
                elif char == quote:
                    quote = ""
            elif char in "'\"":
                quote = char
            elif line.startswith(comment, place):
                self.comment = place
                break
            elif char in _OPENING:
                open_.append(_Brackets(place))
            elif char in _CLOSING and open_:
                closed = open_.pop()
                closed.end = place
                if open_:
                    open_[-1].inner = closed
                elif not _is_index(line, closed.start):
                    self.brackets = closed
            elif open_ and char == ",":
                open_[-1].commas.append(place)
            elif open_ and line.startswith(" for ", place):
                open_[-1].comprehension = True
            elif not open_ and char == " ":
                for word, places in found.items():
                    if line.startswith(word, place):
                        places.append(place)
            place += 1
        self.operators = found[" or "] or found[" and "]


def _is_index(line: str, start: int) -> bool:
    """Whether brackets are an index or a slice, which reads badly in pieces."""
    return line[start] == "[" and start > 0 and (line[start - 1].isalnum() or line[start - 1] in "_)]")
