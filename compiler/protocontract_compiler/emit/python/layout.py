"""Breaks long lines of emitted Python, so that a reviewer can read them: at the commas of the outermost brackets."""

from __future__ import annotations

from collections.abc import Iterator

WIDTH = 110
_STEP = "    "
_OPENING, _CLOSING = "([{", ")]}"


def laid_out(source: str) -> str:
    """The source with its long lines broken. Lines that end in a comment, or have no brackets, stay as they are."""
    return "".join(f"{line}\n" for long in source.splitlines() for line in _broken(long))


def _broken(line: str) -> Iterator[str]:
    found = _outermost(line) if len(line) > WIDTH and not line.lstrip().startswith("#") else None
    if found is None:
        yield line
        return
    start, commas, end = found
    if not line[start + 1 : end].strip():
        yield line
        return
    indent = line[: len(line) - len(line.lstrip())]
    parts = [line[a + 1 : b].strip() for a, b in zip([start, *commas], [*commas, end], strict=True)]
    parts = [part for part in parts if part]
    yield line[: start + 1]
    # A tuple of one keeps its comma; a comprehension must not get one.
    trailing = "," if commas else ""
    together = f"{indent}{_STEP}{', '.join(parts)}"
    if len(together) <= WIDTH and not (trailing and len(parts) == 1):
        yield together
    else:
        for part in parts:
            yield from _broken(f"{indent}{_STEP}{part}{trailing}")
    yield f"{indent}{line[end:]}"


def _outermost(line: str) -> tuple[int, list[int], int] | None:
    """Where the last outermost brackets open and close, and the commas between; None where there are none to break."""
    depth = 0
    start, commas = -1, list[int]()
    found: tuple[int, list[int], int] | None = None
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
            if depth == 0:
                start, commas = place, []
            depth += 1
        elif char in _CLOSING:
            depth -= 1
            if depth == 0 and char == ")":
                found = (start, commas, place)
        elif char == "," and depth == 1:
            commas.append(place)
        place += 1
    # A generator argument or an index is not ours to break, nor is a string inside a subscript.
    return found if found is not None and line[found[0]] == "(" else None
