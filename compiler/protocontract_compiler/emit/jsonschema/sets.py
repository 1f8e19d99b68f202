"""Sets of numbers as ordered, disjoint spans, with the algebra that conditions need.

An end of a span is a cut: just below a number or just above it. Closed and open ends then need no cases, and a
complement is the cuts in between.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

BELOW, ABOVE = -1, 1

Cut: TypeAlias = tuple[float, int]
"""A number, and ``BELOW`` or ``ABOVE`` it. Integers stay integers."""

_LOWEST: Final[Cut] = (-math.inf, BELOW)
_HIGHEST: Final[Cut] = (math.inf, ABOVE)


@dataclass(frozen=True, slots=True)
class Numbers:
    """A set of numbers; ``nan`` says whether NaN is in it. Integers, enum numbers and nanoseconds never are NaN."""

    spans: tuple[tuple[Cut, Cut], ...]
    nan: bool = False

    def __and__(self, other: Numbers) -> Numbers:
        return ~(~self | ~other)

    def __or__(self, other: Numbers) -> Numbers:
        merged: list[tuple[Cut, Cut]] = []
        for low, high in sorted((*self.spans, *other.spans)):
            if merged and low <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], high))
            else:
                merged.append((low, high))
        return Numbers(tuple(merged), self.nan or other.nan)

    def __invert__(self) -> Numbers:
        found: list[tuple[Cut, Cut]] = []
        start = _LOWEST
        for low, high in self.spans:
            if start < low:
                found.append((start, low))
            start = high
        if start < _HIGHEST:
            found.append((start, _HIGHEST))
        return Numbers(tuple(found), not self.nan)

    def __contains__(self, number: float) -> bool:
        if number != number:
            return self.nan
        return any(low < (number, 0) < high for low, high in self.spans)

    def integers(self, least: int, most: int) -> Iterator[tuple[int, int]]:
        """The integers of the set between two bounds, as inclusive ranges with something between them."""
        found: tuple[int, int] | None = None
        for low, high in self.spans:
            first = least if low[0] == -math.inf else max(least, _first(low))
            last = most if high[0] == math.inf else min(most, _last(high))
            if first > last:
                continue
            if found is not None and found[1] + 1 >= first:
                found = (found[0], last)
                continue
            if found is not None:
                yield found
            found = (first, last)
        if found is not None:
            yield found


EVERY: Final = Numbers(((_LOWEST, _HIGHEST),), nan=True)
NONE: Final = Numbers(())


def points(numbers: Iterable[float]) -> Numbers:
    """The set of some numbers."""
    found = NONE
    for number in numbers:
        found |= Numbers((), nan=True) if number != number else Numbers((((number, BELOW), (number, ABOVE)),))
    return found


def compared(op: str, number: float) -> Numbers:
    """The numbers that are ``eq ne lt le gt ge`` to one. No comparison but ``ne`` holds for NaN."""
    match op:
        case "eq":
            return points([number])
        case "ne":
            return ~points([number])
        case "lt":
            return Numbers(((_LOWEST, (number, BELOW)),))
        case "le":
            return Numbers(((_LOWEST, (number, ABOVE)),))
        case "gt":
            return Numbers((((number, ABOVE), _HIGHEST),))
        case "ge":
            return Numbers((((number, BELOW), _HIGHEST),))
    raise ValueError(f"{op} compares nothing")


def _first(cut: Cut) -> int:
    number = math.ceil(cut[0])
    return number + 1 if number == cut[0] and cut[1] == ABOVE else number


def _last(cut: Cut) -> int:
    number = math.floor(cut[0])
    return number - 1 if number == cut[0] and cut[1] == BELOW else number
