"""Breaks long lines of emitted Python, so that a reviewer can read them: at the commas of the outermost brackets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

WIDTH = 110
_STEP = "    "
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(slots=True)
class _Brackets:
    """A pair of brackets: where it opens and closes, and the commas directly in it."""

    start: int
    end: int = -1
    commas: list[int] = field(default_factory=list)
    comprehension: bool = False


def laid_out(source: str) -> str:
    """The source with its long lines broken. Lines that end in a comment, or have no brackets, stay as they are."""
    return "".join(f"{line}\n" for long in source.splitlines() for line in _broken(long))


def _broken(line: str) -> Iterator[str]:
    found = _outermost(line) if len(line) > WIDTH and not line.lstrip().startswith("#") else None
    if found is None or not line[found.start + 1 : found.end].strip():
        yield line
        return
    # The commas of a comprehension separate no items: `for key, value in ...`.
    commas = [] if found.comprehension else found.commas
    indent = line[: len(line) - len(line.lstrip())]
    cuts = zip([found.start, *commas], [*commas, found.end], strict=True)
    parts = [part for part in (line[a + 1 : b].strip() for a, b in cuts) if part]
    yield line[: found.start + 1]
    # A tuple of one keeps its comma; a comprehension must not get one.
    trailing = "," if commas else ""
    together = f"{indent}{_STEP}{', '.join(parts)}"
    if len(together) <= WIDTH and not (trailing and len(parts) == 1):
        yield together
    else:
        for part in parts:
            yield from _broken(f"{indent}{_STEP}{part}{trailing}")
    yield f"{indent}{line[found.end :]}"


def _outermost(line: str) -> _Brackets | None:
    """The last of the outermost brackets that can be broken; None where there are none, and before a comment."""
    open_: list[_Brackets] = []
    found: _Brackets | None = None
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
        elif char == "#":
            return None
        elif char in _OPENING:
            open_.append(_Brackets(place))
        elif char in _CLOSING:
            closed = open_.pop()
            closed.end = place
            if not open_ and not _is_index(line, closed.start):
                found = closed
        elif open_ and char == ",":
            open_[-1].commas.append(place)
        elif open_ and line.startswith(" for ", place):
            open_[-1].comprehension = True
        place += 1
    return found


def _is_index(line: str, start: int) -> bool:
    """Whether brackets are an index or a slice, which reads badly in pieces."""
    return line[start] == "[" and start > 0 and (line[start - 1].isalnum() or line[start - 1] in "_)]")
