"""Texts to try where nothing can be computed: formats, and patterns beyond regular expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations
from typing import Final

from protocontract_ci.meaning import patterns

#: Texts that have a format of buf.validate, and neighbours that do not.
_FORMATS: Final = (
    "a",
    "0",
    "A b",
    "a@example.com",
    "a@b",
    "example.com",
    "example.com:80",
    "-a-",
    "192.0.2.1",
    "192.0.2.1:80",
    "192.0.2.0/24",
    "192.0.2.1/24",
    "2001:db8::1",
    "[2001:db8::1]:80",
    "2001:db8::/32",
    "2001:db8::1/32",
    "https://example.com/a?b#c",
    "/a",
    "a b",
    "123e4567-e89b-12d3-a456-426614174000",
    "123e4567e89b12d3a456426614174000",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "X-Header",
    ":path",
    "a\nb",
    "é",
)


def texts(asked: Iterable[str], named: Iterable[str]) -> Iterator[str]:
    """Texts for and against each format and pattern, between any two patterns, and around what the rules name."""
    yield from _FORMATS
    for name in named:
        yield from (f"{name}a", f"a{name}", f"a{name}a", f" {name} ", name[1:], name[:-1])
    asked = list(asked)[:6]
    for pattern in asked:
        for wanted in (all, _none):
            found = patterns.find(wanted, (pattern,))
            if found.witness is not None:
                yield found.witness
    for one, other in permutations(asked, 2):
        found = patterns.implies(one, other)
        if found.witness is not None:
            yield found.witness


def _none(matched: tuple[bool, ...]) -> bool:
    return not any(matched)
