"""Which spans of a list overlap or cross one that comes earlier in the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final


def conflicts(places: Sequence[tuple[int, int] | None], *, allow_nesting: bool) -> list[int]:
    """Indices of the spans that share text with an earlier one of the list, in order.

    Spans that touch are apart. With ``allow_nesting`` a span may lie inside another or equal it, and only spans that
    cross count. A None takes no part. Linear for a list sorted by start; else one sort; where spans conflict,
    logarithmic for each span.
    """
    spans = [(place[0], -place[1], index) for index, place in enumerate(places) if place is not None]
    if len(spans) < 2 or _apart(sorted(spans), allow_nesting=allow_nesting):
        return []
    return _search(spans, allow_nesting=allow_nesting)


def _apart(spans: Sequence[tuple[int, int, int]], *, allow_nesting: bool) -> bool:
    """Whether no two spans, sorted by start and then the longer first, conflict."""
    open_ends: list[int] = []
    for start, negative_end, _ in spans:
        end = -negative_end
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and (not allow_nesting or open_ends[-1] < end):
            return False
        open_ends.append(end)
    return True


def _search(spans: Sequence[tuple[int, int, int]], *, allow_nesting: bool) -> list[int]:
    rank = {value: place for place, value in enumerate(sorted({each for s, e, _ in spans for each in (s, -e)}))}
    farthest_end = _RangeMaximum(len(rank))  # By start: the largest end.
    earliest_start = _RangeMaximum(len(rank))  # By end: the smallest start, negated.
    found: list[int] = []
    for start, negative_end, index in spans:
        end = -negative_end
        first, last = rank[start], rank[end]
        # Spans that start inside this one and end behind it, and spans that end inside and start before it.
        crossing = farthest_end.over(first + 1, last) > end or earliest_start.over(first + 1, last) > -start
        if not allow_nesting and not crossing:
            crossing = farthest_end.over(0, last) > start
        if crossing:
            found.append(index)
        farthest_end.add(first, end)
        earliest_start.add(last, -start)
    return found


class _RangeMaximum:
    """The largest value at places ``first`` to ``last`` (half open), under additions: a segment tree."""

    __slots__ = ("_size", "_tree")

    _NOTHING: Final = -(1 << 80)

    def __init__(self, size: int) -> None:
        self._size: Final = size
        self._tree: Final = [self._NOTHING] * (2 * size)

    def add(self, place: int, value: int) -> None:
        place += self._size
        while place and self._tree[place] < value:
            self._tree[place] = value
            place >>= 1

    def over(self, first: int, last: int) -> int:
        best = self._NOTHING
        first += self._size
        last += self._size
        while first < last:
            if first & 1:
                best = max(best, self._tree[first])
                first += 1
            if last & 1:
                last -= 1
                best = max(best, self._tree[last])
            first >>= 1
            last >>= 1
        return best
