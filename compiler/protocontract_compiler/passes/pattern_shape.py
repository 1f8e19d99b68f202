"""What a regular expression demands of every text that it matches: literal runs, and the characters at both ends.

Read with Python's own parser of patterns, so only for patterns that it understands as RE2 does; anything else demands
nothing here. Everything found is a necessary condition: silence is always right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# The parser behind `re`. It has no public name; the shapes used here are the same in Python 3.11 to 3.14.
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parser  # type: ignore[attr-defined]
from typing import Any


@dataclass(frozen=True, slots=True)
class Demand:
    """``runs``: texts that occur in every match. ``prefix``/``suffix``: how every matched text begins and ends."""

    runs: tuple[str, ...] = ()
    prefix: str = ""
    suffix: str = ""


def demands(pattern: str) -> Demand:
    """The demands of a pattern that is searched for; none where they cannot be told."""
    try:
        parsed = list(sre_parser.parse(pattern))
    except (re.error, OverflowError, RecursionError):
        return Demand()
    items = _flat(parsed)
    anchored = bool(items) and _is_at(items[0], sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)
    closed = bool(items) and _is_at(items[-1], sre.AT_END, sre.AT_END_STRING)
    runs = _runs(items)
    body = items[1:] if anchored else items
    prefix = _literals(body) if anchored else ""
    rest = list(reversed(items[:-1])) if closed else []
    suffix = "".join(reversed(_literals(rest))) if closed else ""
    return Demand(tuple(runs), prefix, suffix)


def _flat(items: list[Any]) -> list[Any]:
    """The items with plain groups opened and counted repeats of at least one written out once."""
    flat: list[Any] = []
    for op, argument in items:
        if op is sre.SUBPATTERN and not argument[1] and not argument[2]:
            flat.extend(_flat(list(argument[3])))
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT) and argument[0] >= 1:
            low, high, inner = argument
            flat.extend(_flat(list(inner)) * min(low, 8))
            if high != low or low > 8:
                flat.append((sre.ANY, None))  # more of the same may follow
        else:
            flat.append((op, argument))
    return flat


def _runs(items: list[Any]) -> list[str]:
    runs = [""]
    for item in items:
        literal = _literal(item)
        if literal is None:
            if not _is_at(item):
                runs.append("")
        else:
            runs[-1] += literal
    return [run for run in runs if run]


def _literals(items: list[Any]) -> str:
    text = ""
    for item in items:
        literal = _literal(item)
        if literal is None:
            break
        text += literal
    return text


def _literal(item: Any) -> str | None:
    """The character that an item stands for. A class of white space alone stands for a space: it is trimmed alike."""
    op, argument = item
    if op is sre.LITERAL:
        return chr(argument)
    if op is sre.IN and all(
        (kind is sre.CATEGORY and value is sre.CATEGORY_SPACE) or (kind is sre.LITERAL and chr(value) in " \t\r\n")
        for kind, value in argument
    ):
        return " "
    return None


def _is_at(item: Any, *where: Any) -> bool:
    op, argument = item
    return op is sre.AT and (not where or argument in where)
