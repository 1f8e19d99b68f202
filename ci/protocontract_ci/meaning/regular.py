"""Patterns as regular expressions of z3, and what they say of a text's length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from protocontract_ci.meaning import syntax
from protocontract_ci.meaning.smt import z3
from protocontract_ci.meaning.syntax import LAST, Unsupported

#: The last code point that z3's texts know. What lies above it behaves as this one does, or the pattern is not given.
_LAST_OF_Z3: Final = 0x2FFFF


def regular(pattern: str) -> Any | None:
    """The texts in which the pattern matches somewhere, as z3's regular expression; None where that is not exact."""
    try:
        tree = syntax.parse(pattern)
        parts = tree.parts if isinstance(tree, syntax.Choice) else (tree,)
        found = [_anchored(part) for part in parts]
    except Unsupported:
        return None
    return found[0] if len(found) == 1 else z3.Union(*found)


def _anchored(tree: syntax.Node) -> Any:
    start, parts, end = _anchors(tree)
    anything = z3.Full(z3.ReSort(z3.StringSort()))
    inside = [_convert(part) for part in parts]
    return _concat([*([] if start else [anything]), *inside, *([] if end else [anything])])


def _anchors(tree: syntax.Node) -> tuple[bool, tuple[syntax.Node, ...], bool]:
    """Whether the tree is bound to the text's begin and end, and what stands between."""
    parts = list(tree.parts) if isinstance(tree, syntax.Sequence) else [tree]
    start = bool(parts) and parts[0] == syntax.Assert("begin_text")
    if start:
        del parts[0]
    end = bool(parts) and parts[-1] == syntax.Assert("end_text")
    if end:
        del parts[-1]
    return start, tuple(parts), end


def _concat(parts: list[Any]) -> Any:
    if not parts:
        return z3.Re(z3.StringVal(""))
    return parts[0] if len(parts) == 1 else z3.Concat(*parts)


def _convert(tree: syntax.Node) -> Any:
    match tree:
        case syntax.Chars():
            return _chars(tree.ranges)
        case syntax.Sequence():
            return _concat([_convert(part) for part in tree.parts])
        case syntax.Choice():
            return z3.Union(*(_convert(part) for part in tree.parts))
        case syntax.Repeat():
            part = _convert(tree.part)
            if tree.high is None:
                return z3.Star(part) if tree.low == 0 else z3.Concat(z3.Loop(part, tree.low, tree.low), z3.Star(part))
            return z3.Loop(part, tree.low, tree.high) if tree.high else z3.Re(z3.StringVal(""))
        case syntax.Assert():
            raise Unsupported("a condition inside")


def _chars(ranges: syntax.Ranges) -> Any:
    found = []
    for low, high in ranges:
        if low > _LAST_OF_Z3 or (high > _LAST_OF_Z3 and high != LAST):
            raise Unsupported("beyond z3's texts")
        found.append(z3.Range(_character(low), _character(min(high, _LAST_OF_Z3))))
    if not found:
        return z3.Empty(z3.ReSort(z3.StringSort()))
    return found[0] if len(found) == 1 else z3.Union(*found)


def _character(point: int) -> Any:
    return z3.StringVal(f"\\u{{{point:x}}}")


@dataclass(frozen=True, slots=True)
class Extent:
    """How long the matching texts are: in code points, and bytes for each. None is without end."""

    shortest: int
    longest: int | None
    narrowest: int
    widest: int


def extent(pattern: str) -> Extent | None:
    """What a match says of the whole text; None where the pattern matches a part of it only."""
    try:
        start, parts, end = _anchors(syntax.parse(pattern))
        return _extent(syntax.Sequence(parts)) if start and end else None
    except Unsupported:
        return None


def _extent(tree: syntax.Node) -> Extent:
    match tree:
        case syntax.Chars():
            first, last = (tree.ranges[0][0], tree.ranges[-1][1]) if tree.ranges else (0, 0)
            return Extent(1, 1, _width(first), _width(last))
        case syntax.Assert():
            # A condition takes no code point; that it may hold nowhere only makes the extent wider than it is.
            return Extent(0, 0, 4, 1)
        case syntax.Sequence():
            shortest, narrowest, widest = 0, 4, 1
            longest: int | None = 0
            for part in tree.parts:
                found = _extent(part)
                shortest += found.shortest
                longest = None if longest is None or found.longest is None else longest + found.longest
                narrowest, widest = min(narrowest, found.narrowest), max(widest, found.widest)
            return Extent(shortest, longest, narrowest, widest)
        case syntax.Choice():
            each = [_extent(part) for part in tree.parts]
            ends = [found.longest for found in each]
            return Extent(
                min(found.shortest for found in each),
                None if None in ends else max(end for end in ends if end is not None),
                min(found.narrowest for found in each),
                max(found.widest for found in each),
            )
        case syntax.Repeat():
            found = _extent(tree.part)
            endless = tree.high is None or found.longest is None
            end = None if endless and found.longest != 0 else (found.longest or 0) * (tree.high or 0)
            return Extent(found.shortest * tree.low, end, found.narrowest, found.widest)


def _width(point: int) -> int:
    """Bytes of a code point in UTF-8."""
    return 1 if point < 0x80 else 2 if point < 0x800 else 3 if point < 0x10000 else 4
