"""Amounts of money in TypeScript, alone and inside of running texts, are what they are in Python."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from protocontract.normalize import money, text
from protocontract.normalize.money_marks import MARKS, mark_table
from protocontract.violations import Refusal
from tests.typescript import direct
from tests.typescript.direct import CASES, MANY, compare
from tests.typescript.support import needs_node
from tests.typescript.test_normalizers import spans_of, text_options, text_twin

pytestmark = needs_node

_MARKS = tuple(MARKS)
_AMOUNT_PIECES = (
    "EUR", "USD", "KWD", "JPY", "gbp", "DEM", "GBp", "Eur", "TEUR", "1", "12", "123", "1234", "000", "5.00", "1,234",
    "1.234,5", ".", ",", "'", " ", " ", " ", "\xa0", "\u202f", "-", "\u2212", "\u2013", "\u2014", "+", "(", ")", "%",
    "k", "K", "million", "e3", "m", " m", "mrd.", "billion", "Cr", "lakh", "1,23,456", "\u200e", "\u061c", "abc", "/kg",
    "\t", "\u20135", ",-", ".-", "minus", "\x00", "\ud800", "\U0001d7d9", "\U0001f4b0", "\u20bf", "\u0627", "stra\xdfe",
    "Canadian ", "\uff11\uff10", "$", "\xa5", "\u20ac",
    *"万亿千百十一二两零点整约多负元角分块共个兆٢٫٬१２．½²",
)  # fmt: skip
_LOCALES = (None, "de-DE", "en-US", "en-IN", "fr-FR", "zh-CN", "zh-TW", "ja-JP", "sv-SE", "de-CH", "ar-EG", "he-IL")


def _money_options(rng: random.Random) -> dict[str, Any]:
    codes = [None, None, "EUR", "CNY", "KWD", "JPY", "USD", "XAU", "CLF"]
    allowed = tuple(rng.sample(["EUR", "CNY", "KWD", "USD", "TWD"], rng.choice((0, 0, 1, 3))))
    options = {
        "policy": rng.choice(("strict", "lenient")),
        "default_currency": rng.choice(codes),
        "allowed": allowed or None,
        "locale": rng.choice(_LOCALES),
        "decimal": rng.choice((None, None, ".", ",")),
        "scale": rng.choice(("currency", "any", "round_half_even", "round_half_up")),
        "sole_currency": allowed[0] if len(allowed) == 1 and rng.random() < 0.5 else None,
        "storable": rng.choice((None, None, ("CNY", "USD"))),
    }
    return {name: value for name, value in options.items() if value is not None}


def _money_twin(options: dict[str, Any]) -> Callable[..., Any]:
    normalize = money.normalizer(**options)

    def twin(value: str, known: str | None = None) -> Any:
        result = normalize(value, known)
        return result if isinstance(result, Refusal) else {"amount": result.amount, "currency": result.currency}

    return twin


def _amount(rng: random.Random) -> str:
    if rng.random() < 0.4:
        mark = rng.choice(_MARKS)
        number = rng.choice(
            ("5", "1,234.50", "1.234,50", "1 234", "0,125", "-7.5", "(3.00)", "三千五", "五元三角", "1.5万", "99.")
        )
        return rng.choice((f"{mark}{number}", f"{number} {mark}", f"{mark} {number}", f"{number}{mark} {mark}"))
    value = "".join(rng.choice((*_AMOUNT_PIECES, rng.choice(_MARKS))) for _ in range(rng.randrange(8)))
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def test_amounts(dist: Path, rng: random.Random) -> None:
    jobs = []
    for _ in range(60):
        options = _money_options(rng)
        job = direct.normalizer("money", options)
        for _ in range(MANY):
            known = rng.choice((None, None, None, "EUR", "cny", "XXX", "DEM", "JPY", "\ufb01m"))
            if "storable" in options and known is not None:
                known = rng.choice(options["storable"])  # what else could stand in such a field?
            job.calls.append([_amount(rng), known])
        jobs.append((job, _money_twin(options)))
    compare(dist, jobs)


def test_every_mark(dist: Path) -> None:
    jobs = []
    for locale in _LOCALES if MANY > 1000 else _LOCALES[:2]:
        options = {"policy": "lenient", **({"locale": locale} if locale else {})}
        job = direct.normalizer("money", options)
        for text_ in mark_table(locale).texts:
            job.calls += [[f"{text_}5.50"], [f"5 {text_}"], [f"about 7 {text_.upper()} x"]]
        jobs.append((job, _money_twin(options)))
    compare(dist, jobs)


def test_amounts_of_the_cases(dist: Path) -> None:
    jobs = []
    for file in ("money.jsonl", "own_money.jsonl"):
        for line in (CASES / file).read_text().splitlines():
            case = json.loads(line)
            options = {name: value for name, value in case["context"].items() if value is not None}
            job = direct.normalizer("money", options)
            job.calls = [[case["input"], None]]
            jobs.append((job, _money_twin(options)))
    assert len(jobs) > 900
    compare(dist, jobs)


def test_amounts_in_texts(dist: Path, rng: random.Random) -> None:
    """What becomes of running texts with amounts, and what is said of amounts that are left."""
    plain = (
        "paid",
        "about",
        "and",
        "Le",
        "kr",
        "Fr.",
        "per",
        "costs",
        "\u4e00\u5171",
        "\u5171",
        "to",
        "EUR 5.00",
        "CNY 1000.00",
        "\n",
        ".",
        "\U0001d7d9\U0001d7d8",
        "9" * 205,
    )
    jobs = []
    for number in range(24):
        money_options = {**_money_options(rng), "policy": rng.choice(("strict", "lenient"))}
        money_options = {
            name: each for name, each in money_options.items() if name not in ("sole_currency", "storable")
        }
        options = {**(text_options(rng) if number % 2 else {}), "amounts": money_options}
        job, warnings = direct.normalizer("text", options), direct.amount_warnings(options)
        for _ in range(MANY):
            pieces = (rng.choice((rng.choice(plain), _amount(rng), _amount(rng))) for _ in range(rng.randrange(7)))
            value = rng.choice((" ", " ", "")).join(pieces)
            value = value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
            job.calls.append([value, "utf16", *spans_of(rng, value, "utf16")])
            warnings.calls.append([value])
        jobs += [(job, text_twin(options)), (warnings, _warnings_twin(options))]
    compare(dist, jobs)


def _warnings_twin(options: dict[str, Any]) -> Callable[..., Any]:
    normalize = text.normalizer(**options)
    return lambda value: [Refusal(each.rule_id, each.message, each.index) for each in normalize.warnings(value)]
