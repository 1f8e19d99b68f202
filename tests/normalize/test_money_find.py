"""Amounts inside running text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.normalize import money, money_find
from protocontract.normalize.money_core import checked_options
from protocontract.normalize.money_find import in_part
from protocontract.violations import Refusal
from tests.examples import examples


def found(text: str, **options: Any) -> list[tuple[str, str]]:
    """Each amount as it stands, with its standard form or the rule id of its refusal."""
    return [
        (
            text[amount.start : amount.end],
            amount.result.rule_id if isinstance(amount.result, Refusal) else " ".join(reversed(amount.result)),
        )
        for amount in money.find(text, **options)
    ]


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        (
            "利润 ¥1,000 和 ¥1000，共 1,000.00 元",
            {"default_currency": "CNY", "decimal": "."},
            [("¥1,000", "CNY 1000.00"), ("¥1000", "CNY 1000.00"), ("1,000.00 元", "CNY 1000.00")],
        ),
        ("Paid US$5.50, then 10 apples (EUR 5.00).", {}, [("US$5.50", "USD 5.50"), ("EUR 5.00", "EUR 5.00")]),
        ("a loss of -€3.20 today", {}, [("-€3.20", "EUR -3.20")]),
        ("raised €5 million in 2024", {}, [("€5 million", "money.syntax")]),
        ("raised 5 EUR million", {}, [("5 EUR million", "money.syntax")]),
        ("from €10–€20 or 12-15 EUR", {}, [("€10–€20", "money.syntax"), ("15 EUR", "money.syntax")]),
        ("about $5", {}, [("$5", "money.ambiguous")]),
        ("1.234 € und 1.234,50 €", {}, [("1.234 €", "money.ambiguous"), ("1.234,50 €", "EUR 1234.50")]),
        ("EUR 1234.50 und 1.234 €", {"locale": "de-DE"}, [("EUR 1234.50", "EUR 1234.50"), ("1.234 €", "EUR 1234.00")]),
        ("奖金三百元。5元3角", {}, [("三百元", "CNY 300.00"), ("5元3角", "CNY 5.30")]),
        # No amounts: words that only look like money, numbers without a mark, percentages, parts of words
        ("Le 5 mai, all 5 try 6; version R2 and A5; 40% off; 一元二次方程; 5分钟", {}, []),
        ("A5€ model", {}, []),
        ("$5x", {"default_currency": "USD"}, []),
        ("", {}, []),
    ],
)
def test_found(text: str, options: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert found(text, **options) == expected


def test_long_texts_take_linear_time() -> None:
    text = "Paid €5.00 for 3 things (or 12) and $7; " * 2000
    amounts = money.find(text, default_currency="USD")
    assert len(amounts) == 4000


@pytest.mark.parametrize(
    "text",
    [
        "€" + "9" * 5000,
        "一万" * 5000 + "元",
        "九" * 5000 + "元",
        "5" + ",000" * 2000 + " EUR",
    ],
)
def test_endless_numbers_are_no_amounts(text: str) -> None:
    assert all(isinstance(amount.result, Refusal) for amount in money.find(text))


def test_lines_are_read_by_themselves() -> None:
    text = "due: CNY 5\n6 apples\r\nEUR 99.\n\u00a51,000 and EUR 7.\nEUR 5-\nEUR 8."
    found = money.find(text, locale="zh-CN")
    pieces = [text[each.start : each.end] for each in found]
    assert pieces == ["CNY 5", "EUR 99", "\u00a51,000", "EUR 7", "EUR 5-", "EUR 8"]
    assert isinstance(found[4].result, Refusal)
    assert money.find("5\nEUR") == []


PIECES = (
    "$", "€", "¥", "kr", "Rs.", "US $", "F CFA", "EUR", "all", "euros", "million", "k", "bn", "%", "percent", "5", "12",
    "1,234.56", "12 345", "5.", "-", "–", "+", "(", ")", " ", ", ", ". ", "word", "Company", "REVENUE", "about", "of",
    "元", "万", "三百", "人民币", "公司", "利润", "，", "几", "Le", "R2", "A5", "mio", "TEUR", "DEM", "²", "½",
    "٣", "\u200f", "\xa0", "'", "/", "...", "naïve", "рублей", "год", "ＵＳＤ", "１", "￥", "cr", "10–20",
)  # fmt: skip
OPTIONS = [{}, {"default_currency": "USD"}, {"locale": "de-DE"}, {"locale": "zh-CN"}, {"policy": "lenient"}]


@settings(max_examples=examples(500), derandomize=True, deadline=None)
@given(
    pieces=st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(("", " "))), max_size=40),
    declared=st.sampled_from(OPTIONS),
)
def test_reading_in_parts_finds_what_the_whole_text_holds(
    pieces: list[tuple[str, str]], declared: dict[str, Any]
) -> None:
    text = "".join(piece + space for piece, space in pieces)
    options = {"policy": "strict", "default_currency": None, "locale": None, **declared}
    whole = in_part(text, checked_options(allowed=None, decimal=None, scale="currency", **options))
    assert money.find(text, **declared) == whole


def test_text_without_amounts_is_hardly_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def note(text: str, _: object) -> list[money.Found]:
        read.append(text)
        return []

    monkeypatch.setattr(money_find, "in_part", note)
    words = "the quick brown fox jumps over 7 lazy dogs and then it goes home again "
    money.find(words * 50 + "for $5 " + words * 50, default_currency="USD")
    assert read == ["for $5 the"]
