"""Inclusion of patterns: a table, and random patterns with RE2 itself as judge of every answer."""

from __future__ import annotations

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from protocontract_ci.meaning import patterns
from protocontract_ci.meaning.syntax import Unsupported, contents, parse

INCLUDED = [
    ("^[a-z]+$", "^[a-z]*$"),
    ("^[a-z]{3,5}$", "^[a-z]{2,8}$"),
    ("^ $", " "),
    (r"^\d+$", "^[0-9]+$"),
    ("^[0-9]+$", r"^\d+$"),
    (r"^\w+@\w+\.com$", "@"),
    ("(?i)^abc$", "^[aA][bB][cC]$"),
    (r"\bfoo\b", "foo"),
    ("(?m)^a$", "a"),
    ("^(a|b)*$", "^(a*b*)*$"),
    ("^a{1000}$", "^a+$"),
    (r"^[A-Z]{3}$", r"^\pL{3}$"),
    (r"^([0-9]{1,3}\.){3}[0-9]{1,3}$", "^[0-9.]{7,15}$"),
    ("^.+$", "(?s)^.+$"),
    ("a$|^b", "a|b"),
    (r"^\Qa.b\E$", r"^a[.]b$"),
    (r"^(?P<year>[0-9]{4})-[0-9]{2}$", r"^\d{4}-\d\d$"),
    (r"^\x{1F600}$", r"^\p{So}$"),
    ("(?i:a)b", "[aA]b"),
    ("", "x?"),
]
DIFFERENT = [
    ("^[a-z]*$", "^[a-z]+$", ""),
    ("foo", r"\bfoo\b", None),
    ("(?s)^.+$", "^.+$", "\n"),
    # The Kelvin sign is a k in the tables of case folding.
    ("(?i)^k$", "^[kK]$", "\N{KELVIN SIGN}"),
    ("a", "(?m)^a$", None),
    ("^a{2,3}$", "^a{3}$", "aa"),
]


@pytest.mark.parametrize(("stronger", "weaker"), INCLUDED)
def test_a_pattern_within_another(stronger: str, weaker: str) -> None:
    assert patterns.implies(stronger, weaker) == patterns.Answer(True)


@pytest.mark.parametrize(("one", "other", "witness"), DIFFERENT)
def test_a_shortest_witness(one: str, other: str, witness: str | None) -> None:
    answer = patterns.implies(one, other)
    assert answer.holds is False
    assert answer.witness is not None
    assert re2.search(one, answer.witness)
    assert not re2.search(other, answer.witness)
    if witness is not None:
        assert answer.witness == witness


def test_what_cannot_be_decided_is_said() -> None:
    assert patterns.implies(r"\C", "a") == patterns.Answer(None)
    assert patterns.implies("(a|b)*a(a|b){18}x", "(a|b)*b(a|b){18}x").holds is not True


@pytest.mark.parametrize("pattern", ["(", "a{2000}", "[z-a]", r"(?<=a)b"])
def test_what_re2_refuses(pattern: str) -> None:
    with pytest.raises(Unsupported):
        parse(pattern)


@pytest.mark.parametrize(
    "piece", [r"\pL", "[^a-z]", r"\P{Greek}", r"\S", "[[:alpha:]_]", ".", r"[\x{10000}-\x{10FFFF}]"]
)
def test_sets_are_those_of_re2(piece: str) -> None:
    ranges = contents(piece, False, False)
    edges = {point + step for span in ranges for point in span for step in (-1, 0, 1)}
    for point in sorted(edges | {0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF}):
        if 0 <= point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF:
            inside = any(low <= point <= high for low, high in ranges)
            assert inside == (re2.fullmatch(piece, chr(point)) is not None), hex(point)


_ATOMS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", r"\b", "^", "$", r"\w", "(?i:A)", "\n", "é", "(?m:^)", r"\B"])


def _joined(parts: list[str]) -> str:
    return "".join(parts)


_PATTERNS = st.recursive(
    _ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(_joined),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    ),
    max_leaves=6,
)
_TEXTS = st.text(alphabet="abAB \né_", max_size=6)


@given(_PATTERNS, _PATTERNS, st.lists(_TEXTS, max_size=20))
def test_every_answer_is_confirmed_by_re2(one: str, other: str, texts: list[str]) -> None:
    answer = patterns.implies(one, other)
    if answer.witness is not None:
        assert re2.search(one, answer.witness)
        assert not re2.search(other, answer.witness)
    elif answer.holds:
        for text in texts:
            assert not re2.search(one, text) or re2.search(other, text), text
