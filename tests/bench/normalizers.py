"""What a clean value costs in each normalizer, beside ``str.strip`` on the same value in the same run.

Neighbours are measured where they are installed; they are not what the normalizers must beat, because none of them
refuses what it cannot read unambiguously.
"""

from __future__ import annotations

import importlib
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from protocontract.normalize import instant, money, text
from tests.bench.measure import Entry, paired

_DISTINCT = 1000
_TURN = 0.0003


@dataclass(frozen=True, slots=True)
class Case:
    """Values of one kind that need no change, and who reads them."""

    name: str
    values: Sequence[str]
    ours: Callable[[str], Any]
    #: Nanoseconds that a value may take.
    limit: int
    #: A neighbour's module, and what makes its function.
    peers: tuple[tuple[str, Callable[[Any], Callable[[str], Any]]], ...] = ()


def _cases() -> list[Case]:
    randomness = random.Random(11)
    latin = "the model read seven labelled samples before noon while nobody looked"
    mixed = "während Zürich naïve façade 上海 資料 σήμερα модель"

    def texts(sentence: str) -> list[str]:
        return [" ".join(randomness.choices(sentence.split(" "), k=12)) for _ in range(_DISTINCT)]

    clean_text = text.normalizer(
        strip_bom=True, normalize="nfc", strip_controls=True, collapse_whitespace=True, trim=True,
        reject=("nul", "replacement", "noncharacter"),
    )  # fmt: skip
    fixer = (("ftfy", lambda module: module.fix_text),)
    amounts = [f"{randomness.randrange(1, 10**6)}.{randomness.randrange(100):02d}" for _ in range(_DISTINCT)]
    moments = [
        f"2025-{randomness.randrange(1, 13):02d}-{randomness.randrange(1, 29):02d}T"
        f"{randomness.randrange(24):02d}:{randomness.randrange(60):02d}:{randomness.randrange(60):02d}Z"
        for _ in range(_DISTINCT)
    ]
    return [
        Case("text, ASCII, 70 characters", texts(latin), clean_text, 1000, fixer),
        Case("text, mixed scripts, 80 characters", texts(mixed), clean_text, 1000, fixer),
        Case(
            "money, canonical amount", amounts, money.normalizer(default_currency="EUR"), 2000,
            (("price_parser", lambda module: module.Price.fromstring),),
        ),
        Case(
            "instant, canonical", moments, instant.normalizer(zone="Europe/Berlin", fold="earlier"), 1000,
            (
                ("ciso8601", lambda module: module.parse_datetime),
                ("dateparser", lambda module: module.parse),
            ),
        ),
    ]  # fmt: skip


def report(rounds: int) -> None:
    """Prints nanoseconds a clean value, and the ratio to ``str.strip``; says where a limit is passed."""
    print("clean values: nanoseconds a value, and as a ratio to str.strip in the same run")
    for case in _cases():
        for value in case.values:
            got = case.ours(value)
            # Money gives two texts, of which the amount is the one that was clean.
            if got is not value and getattr(got, "amount", None) is not value:
                raise SystemExit(f"{case.name}: {value!r} is not clean: {got!r}")
        entries = [Entry("str.strip", str.strip, case.values), Entry("ours", case.ours, case.values)]
        for name, make in case.peers:
            try:
                module = importlib.import_module(name)
            except ImportError:
                continue
            entries.append(Entry(name, make(module), case.values))
        timings = paired(entries, "str.strip", rounds=rounds, turn=_TURN)
        nanoseconds = timings["ours"].microseconds * 1e3
        over = "" if nanoseconds < case.limit else f"   over the limit of {case.limit} ns"
        print(f"  {case.name:<40}{nanoseconds:>10.0f} ns {timings['ours'].ratio:>9.1f}x{over}")
        for name, timing in timings.items():
            if name not in ("ours", "str.strip"):
                print(f"    {name:<38}{timing.microseconds * 1e3:>10.0f} ns {timing.ratio:>9.1f}x")
    _report_search()
    print()


def _report_search() -> None:
    """Prints what the search for amounts costs in one long line, which is read in parts."""
    words = "the model read 7 labelled samples before noon while nobody looked, and then it went home again; "
    print("amounts in a line of 10 MB: seconds of processor time")
    for name, sentence in (
        ("a number every 97 characters, no amount", words),
        ("and an amount every 500", words * 5 + "it cost EUR 1,234.56 in all; "),
    ):
        line = sentence * (10_000_000 // len(sentence))
        started = time.process_time()
        found = money.find(line)
        print(f"  {name:<40}{time.process_time() - started:>10.2f} s {len(found):>9} amounts")
