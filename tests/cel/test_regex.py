"""Regular expressions: what runs in Python's ``re`` means what RE2 says, and no accepted pattern is slow."""

from __future__ import annotations

import random
import re
from functools import partial
from typing import Any

import pytest
import re2

from protocontract_compiler.cel.compiler import CelError
from protocontract_compiler.cel.regex import RegexPlan, check_pattern, compile_pattern
from tests.cel.support import COMPILER, Field, schema, this_of_field
from tests.support.timing import seconds, within

FAST = {
    "^[a-z0-9_]+$": ("[a-z0-9_]+", "fullmatch"),  # classes are printed in code point order
    "^a+$": ("a+", "fullmatch"),
    r"^\d{3}-\d{4}$": ("[0-9]{3}-[0-9]{4}", "fullmatch"),
    "^(foo|bar)(-[0-9]+)*$": ("(?:foo|bar)(?:-[0-9]+)*", "fullmatch"),
    r"\d": ("[0-9]", "search"),
    "a+": ("a", "search"),
    "a+b": ("ab", "search"),
    "x*y*": ("", "search"),
    "(ab)+c": ("abc", "search"),
    r"\.json$": (r"\.json\Z", "search"),
    "^https?://": ("https?://", "match"),
    "^[[:upper:]]{2,3}$": ("[A-Z]{2,3}", "fullmatch"),
    "(?i)^k$": ("[Kk\u212a]", "fullmatch"),
    "^.$": (".", "fullmatch"),
    "^(?s).$": None,
    r"^\s*$": (r"[\x09\x0a\x0c\x0d ]*", "fullmatch"),
    r"^[^\x00-\x1f]+\z": (r"[^\x00-\x1f]+", "fullmatch"),
    "": ("", "search"),
    "^(a|b)$": ("(?:a|b)", "fullmatch"),
    "^a$|^b$": ("a|b", "fullmatch"),
    "^[a-]$": (r"[\-a]", "fullmatch"),
}
SLOW = [
    "^(a+)+$", "^(a|a)*$", "^(a|ab)c$", "^a*a$", r"^[^@]+@[^@]+\.[^@]+$", r"\ba", "ab+c", "(?m)^a$", r"\pL", r"\Qa.b\E",
    "^(a*)*$", "(?U)a+", "^a$|b", "a{,3}", "(?i)é", r"^a\Bb$", "a(?:bc)*d", r"(?i)\w",
]  # fmt: skip


@pytest.mark.parametrize("pattern", FAST)
def test_translated(pattern: str) -> None:
    expected = FAST[pattern]
    plan = compile_pattern(pattern)
    if expected is None:
        assert plan == RegexPlan("re2", pattern, "search")
        return
    method: Any = expected[1]
    source = expected[0].replace("[a-z0-9_]", "[0-9_a-z]")
    assert (plan.engine, re.sub(r"\(\?:a\|b\)$", "a|b", plan.source), plan.method) == (
        "re",
        re.sub(r"\(\?:a\|b\)$", "a|b", source),
        method,
    )


@pytest.mark.parametrize("pattern", SLOW)
def test_left_to_re2(pattern: str) -> None:
    assert check_pattern(pattern) is None
    assert compile_pattern(pattern) == RegexPlan("re2", pattern, "search")


@pytest.mark.parametrize(
    "pattern", ["(", "a**", r"\1", "(?=a)", "(?<=a)", "a{1001}", "[z-a]", r"\u0041", "(?x)a", "*a", "x{2,1}"]
)
def test_refused(pattern: str) -> None:
    assert check_pattern(pattern)
    field = schema([Field("f", "string")]).DESCRIPTOR.fields_by_name["f"]
    literal = "r'''" + pattern + "'''"
    with pytest.raises(CelError, match="invalid regular expression"):
        COMPILER.compile(f"this.matches({literal})", this=this_of_field(field))


ATOMS = ["a", "b", "ab", ".", "[ab]", "[^a]", r"\d", r"\w", r"\s", r"\S", "[a-c]", r"\.", "é", "[[:alpha:]]", "k",
    "1", "-",
         r"[^\n]", r"\x41", "[k-s]", "\n", "$", "[]a]", "[^]a]", r"[\d-]", r"[\w.]", "_", r"\x{1F600}"]  # fmt: skip
LOOPS = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,2}", "{2,}", "*?", "+?", "??"]
ALPHABET = "aabbkKsS1 -.é_\n\u212a\u017f٣日A😀c"


def _pattern(rng: random.Random, depth: int = 0) -> str:
    pieces = []
    for _ in range(rng.randrange(1, 4)):
        if depth < 2 and rng.random() < 0.3:
            head = rng.choice(["(", "(?:", f"(?P<n{rng.randrange(10**9)}>"])
            atom = head + _pattern(rng, depth + 1) + ")"
        else:
            atom = rng.choice(ATOMS)
        pieces.append(atom + rng.choice(LOOPS))
    text = "".join(pieces)
    return text + "|" + _pattern(rng, depth + 1) if depth < 2 and rng.random() < 0.2 else text


def test_means_what_re2_says() -> None:
    """Random patterns that are translated, on random texts."""
    rng = random.Random(4)
    translated = compared = 0
    for _ in range(12_000):
        head, tail = rng.choice(["", "^", "^", "(?i)", "(?i)^", "(?s)^", r"\A"]), rng.choice(["", "$", "$", r"\z"])
        pattern = head + _pattern(rng) + tail
        if check_pattern(pattern) is not None:
            continue
        plan = compile_pattern(pattern)
        if plan.engine != "re":
            continue
        translated += 1
        ours, theirs = getattr(re.compile(plan.source), plan.method), re2.compile(pattern)
        for _ in range(12):
            text = "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(7)))
            assert (ours(text) is not None) == (theirs.search(text) is not None), (pattern, plan, text)
            compared += 1
    assert translated > 3_000
    assert compared > 36_000


@pytest.mark.parametrize("size", [10_000, 100_000])
def test_no_accepted_pattern_is_slow(size: int) -> None:
    """Hostile texts: a run of what loops take, then something that fails."""
    patterns = [
        *FAST, *SLOW, "^(a|b|ab)*c$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "^[a-z]+(-[a-z]+)*$", "^(ab|ba)*$",
        "^(?:[a-z]{1,3}-)+$", "^[ab]*c[ab]*c[ab]*d$", r"^(\w+\s?)*$", "(.*)(.*)(.*)x", "^(a?){100}a{100}$",
    ]  # fmt: skip
    for pattern in patterns:
        plan = compile_pattern(pattern)
        search: Any = getattr((re if plan.engine == "re" else re2).compile(plan.source), plan.method)
        for unit in ("a", "ab", "a-", "1", "a ", "https", "ab-", "c", "\n"):
            text = unit * (size // len(unit))
            for tried in (text + "!", text):
                assert within(0.25 + size * 4e-6, partial(search, tried)), (pattern, plan, unit)


def test_random_patterns_take_linear_time() -> None:
    """Ten times the text, ten times the time: of patterns that run in ``re``, on texts made of what they look for.

    Texts are runs of one unit, with and without an end that makes the match fail late: what backtracking is slow on.
    A quadratic search of 10 kB is stopped by the first bound already, before 100 kB would take minutes.
    """
    rng = random.Random(7)
    measured = 0
    while measured < 1_500:
        pattern = rng.choice(["", "^", "^", "(?i)^", r"\A"]) + _pattern(rng) + rng.choice(["", "$", "$", r"\z"])
        if check_pattern(pattern) is not None:
            continue
        plan = compile_pattern(pattern)
        if plan.engine != "re" or not re.search(r"[*+]|,\}", plan.source):
            continue  # bounded repeats take bounded time
        measured += 1
        search: Any = getattr(re.compile(plan.source), plan.method)
        unit = "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(1, 4)))
        for end in ("", "!", "\n"):
            short = partial(search, unit * (10_000 // len(unit)) + end)
            assert within(0.02, short), (pattern, plan, unit, end)
            long = partial(search, unit * (100_000 // len(unit)) + end)
            assert within(25 * min(seconds(short), seconds(short)) + 0.005, long), (pattern, plan, unit, end)


def test_standard_patterns_run_in_re() -> None:
    """The patterns of validate.proto's own rules are all of the fast kind."""
    for pattern in (
        "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
        "^[0-9a-fA-F]{32}$",
        "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$",
        r"^[A-Za-z_][A-Za-z_0-9]*(\.[A-Za-z_][A-Za-z_0-9]*)*$",
        r"^\.[A-Za-z_][A-Za-z_0-9]*(\.[A-Za-z_][A-Za-z_0-9]*)*$",
        r"^:?[0-9a-zA-Z!#$%&'*+-.^_|~\x60]+$",
        "^[^\u0000\u000a\u000d]+$",
        "^[^\u0000-\u0008\u000a-\u001f\u007f]*$",
    ):
        assert compile_pattern(pattern).engine == "re", pattern
