"""Repeated integers that follow a law: position ids, rising offsets, lists that run beside another list."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from protocontract.violations import OptionError, Refusal, Refused, describe

_Checker = Callable[..., "list[Refusal] | None"]


def check(
    values: Iterable[int],
    *,
    first: int | None = None,
    step: int | None = None,
    strictly_increasing: bool = False,
    same_length_as: int | None = None,
) -> None:
    """Raise Refused for the first place at which ``values`` breaks the law. No values keep every law but a length.

    ``first`` and ``step``: the first value (0 where only ``step`` is given) and the difference of neighbours.
    ``strictly_increasing``: each value is above the one before it. ``same_length_as``: the other list's length.
    Raises Refused (sequence.step, sequence.length) and OptionError.
    """
    found = checker(first=first, step=step, strictly_increasing=strictly_increasing)(values, same_length_as)
    if found:
        raise Refused.of(found[0])


def checker(
    *,
    first: int | None = None,
    step: int | None = None,
    strictly_increasing: bool = False,
    same_length_as: object = None,
) -> _Checker:
    """The non-raising twin: ``(values, other_length=None) -> list[Refusal] | None``, every break in order.

    ``values``: a repeated field or any iterable of integers; ``other_length``: the length that it must have (where that
    is all that is demanded, the values may be of any kind).
    ``same_length_as`` is accepted so that an annotation's options can be passed whole; the caller resolves the name
    and passes the length. Raises OptionError.
    """
    for option, number in (("first", first), ("step", step)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise OptionError(option, "no integer")
    if strictly_increasing and step is not None and step <= 0:
        raise OptionError("step", "contradicts strictly_increasing; expected a positive step")
    start = 0 if first is None and step is not None else first
    lawful = start is not None or strictly_increasing

    def find(values: Iterable[int], other_length: int | None = None) -> list[Refusal] | None:
        if isinstance(values, str) or not isinstance(values, Iterable):
            return [Refusal("sequence.step", f"no list; expected integers, got {describe(values)}")]
        items: list[Any] = list(values)
        found: list[Refusal] = []
        if other_length is not None and len(items) != other_length:
            found.append(
                Refusal(
                    "sequence.length",
                    f"not as long as the list beside it; expected {other_length} values, got {len(items)}",
                )
            )
        if not lawful and other_length is not None:
            return found or None  # any list can be as long as another one
        for at, item in enumerate(items):
            if not isinstance(item, int):
                found.append(Refusal("sequence.step", f"no integer, got {describe(item)}", at))
                return found
        if not items:
            return found or None
        if step is not None and start is not None and items == _arithmetic(start, step, len(items)):
            return found or None
        if start is not None and items[0] != start:
            found.append(Refusal("sequence.step", f"a first value that is not {start}", 0))
        if step is not None:
            for at, (before, after) in enumerate(pairwise(items), 1):
                if after - before != step:
                    found.append(Refusal("sequence.step", f"a value that does not follow by {step}", at))
        elif strictly_increasing:
            for at, (before, after) in enumerate(pairwise(items), 1):
                if not after > before:
                    found.append(Refusal("sequence.step", "a value that is not above the one before it", at))
        return found or None

    return find


def _arithmetic(start: int, step: int, length: int) -> list[int]:
    return list(range(start, start + step * length, step)) if step else [start] * length
