"""Texts to try where nothing can be computed: formats, and patterns beyond regular expressions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import permutations, product
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

#: What else a text may have, so that not all are alike.
_KINDS: Final = ("^.{6,}$", "[a-z]", "[A-Z]", "[0-9]", "[^0-9A-Za-z]")
#: Most patterns of one state that are compared with each of the other's.
_FEW: Final = 3
_SECONDS: Final = 1.0


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


def telling(before: Iterable[str], after: Iterable[str]) -> Iterator[str]:
    """Texts that tell the patterns of two states apart, and some that both match: short and longer ones, with letters,
    digits and other characters, as far as there are any.
    """
    pairs = list(product(list(before)[:_FEW], list(after)[:_FEW]))
    for old, new in pairs:
        if old == new:
            continue
        for wanted in ((False, True), (True, False), (True, True)):
            for more in ((), *((each,) for each in _KINDS)):
                found = patterns.find(partial(_begins, wanted), (old, new, *more), seconds=_SECONDS)
                if found.witness is not None:
                    yield found.witness


def _begins(wanted: tuple[bool, ...], matched: tuple[bool, ...]) -> bool:
    return matched[: len(wanted)] == wanted and all(matched[len(wanted) :])


def _none(matched: tuple[bool, ...]) -> bool:
    return not any(matched)
