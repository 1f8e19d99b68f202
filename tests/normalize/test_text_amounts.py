"""amounts: money inside running text is brought into its standard form, through the edit map."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocontract.normalize import money, text
from protocontract.normalize.amounts import AmountFinder
from protocontract.relations import spans
from protocontract.violations import OptionError, Refused
from tests.normalize.strategies import PROPERTY

CHINA = {"locale": "zh-CN", "default_currency": "CNY"}


@pytest.mark.parametrize(
    ("value", "amounts", "expected", "warnings"),
    [
        ("paid \u00a51,000 today", CHINA, "paid CNY 1000.00 today", []),
        ("paid \u00a51,000 today", {}, "paid \u00a51,000 today", [("money.ambiguous", 0)]),
        ("$5, then US$6 and $7", {}, "$5, then USD 6.00 and $7", [("money.ambiguous", 0), ("money.ambiguous", 2)]),
        ("EUR 5 or GBP 6", {"allowed": ["EUR"]}, "EUR 5.00 or GBP 6", [("money.currency", 1)]),
        ("CNY 1000.00", {"locale": "de-DE"}, "CNY 1000.00", []),
        ("no amount, 5 apples", {}, "no amount, 5 apples", []),
        ("", {}, "", []),
    ],
)
def test_amounts(value: str, amounts: dict[str, Any], expected: str, warnings: list[tuple[str, int]]) -> None:
    bound = text.normalizer(amounts=amounts, trim=True)
    assert bound(value) == expected
    assert [(each.rule_id, each.index) for each in bound.warnings(value)] == warnings
    if value == expected:
        assert bound(value) is value


class Naive(AmountFinder):
    """Reads "5x" and "USD 5" as amounts, and a code right behind the number as part of it."""

    def __init__(self) -> None:
        self._find = self.find

    def find(self, value: str) -> list[money.Found]:
        return [
            money.Found(match.start(), match.end(), money.Money(match[1] or match[2], "USD"))
            for match in re.finditer("USD ([0-9]+)(?:USD)?|([0-9]+)x", value)
        ]


def test_amounts_that_run_into_each_other_stay() -> None:
    """What is written must be read as what it is: "USD 5USD 6" would not be."""
    bound = Naive()
    assert bound.apply("5x, 6x") == "USD 5, USD 6"
    assert bound.warnings("5x, 6x") == []
    assert bound.apply("1x, 5x6x") == "USD 1, 5x6x"
    assert [(each.rule_id, each.index) for each in bound.warnings("1x, 5x6x")] == [
        ("money.ambiguous", 1), ("money.ambiguous", 2),
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["5EUR\xa01.234\u5143", "\uff11CNY 1.00$", ".\u4e00\u767eCNY 1.00\u20ac, US$5"])
def test_an_amount_does_not_set_its_neighbour_free(value: str) -> None:
    for options in ({}, {"decimal": ","}, {"default_currency": "USD"}):
        bound = text.normalizer(amounts=options)
        once = bound(value)
        assert bound(once) is once


def test_steps_before_amounts() -> None:
    """An amount is looked for in the text that the other steps leave."""
    bound = text.normalizer(amounts=CHINA, strip_html=True, fold_width=True, collapse_whitespace=True)
    assert bound("<b>\uffe5</b>\uff11\uff0c\uff10\uff10\uff10") == "CNY 1000.00"


def test_spans_follow() -> None:
    value = "pay \u00a51,000 to Ann"
    given = [{"start": 4, "end": 10, "surface": "\u00a51,000"}, {"start": 14, "end": 17, "surface": "Ann"}]
    assert spans.remap(value, given, amounts=CHINA) == (
        "pay CNY 1000.00 to Ann",
        [{"start": 4, "end": 15, "surface": "CNY 1000.00"}, {"start": 19, "end": 22, "surface": "Ann"}],
    )
    with pytest.raises(Refused) as caught:
        spans.remap(value, [{"start": 5, "end": 10}], amounts=CHINA)
    assert (caught.value.rule_id, caught.value.index) == ("spans.lost", 0)


def test_a_refused_text_has_no_warnings() -> None:
    bound = text.normalizer(amounts={}, strip_html=True)
    assert bound.warnings("$5 <b") == []
    assert bound.warnings("$5 \ud800") == []
    assert bound.warnings(None) == []
    assert text.normalizer().warnings("$5") == []


@pytest.mark.parametrize("amounts", [{"locale": "xx-nowhere"}, {"policy": "mild"}, {"currency_field": "c"}, {1: 2}, []])
def test_wrong_options(amounts: Any) -> None:
    with pytest.raises(OptionError):
        text.normalizer(amounts=amounts)


@pytest.mark.parametrize("number", ["1" * 5000, "1" + ",111" * 3000, "1" + " 111" * 3000, "\u4e8c" * 5000,
                                    "1" + "\u4e07" * 3000, "1." + "1" * 5000, "\u0661" * 5000])  # fmt: skip
def test_long_numbers_are_no_amounts(number: str) -> None:
    bound = text.normalizer(amounts=CHINA)
    assert bound(f"\u00a5{number}, EUR 5") == f"\u00a5{number}, EUR 5.00"


pieces = st.sampled_from(
    ["$", "\u00a5", "US$", "EUR", "CNY", "KWD", "\u20ac", "kr", "5", "12", "1,000", "1.234", "1.234,50", "000", "-",
     "(", ")", " ", "\u00a0", ".", ",", "%", "x", "a", "\u4e07", "\u5143", "\u4e00\u767e", "\u89d2", "CNY 1.00", "e5",
     "\uff11", "\u0661", "\n", "\u2013"]
)  # fmt: skip
money_options = st.sampled_from(
    [{}, CHINA, {"locale": "de-DE"}, {"policy": "lenient"}, {"scale": "any"}, {"decimal": ","},
     {"allowed": ["CNY", "EUR"], "scale": "round_half_even"}, {"default_currency": "USD"}]
)  # fmt: skip


@PROPERTY
@given(st.lists(pieces, max_size=10).map("".join), money_options)
def test_twice_is_once(value: str, amounts: dict[str, Any]) -> None:
    bound = text.normalizer(amounts=amounts)
    traced = bound.traced(value)
    assert isinstance(traced, tuple)
    once = bound(value)
    assert once == traced[0]
    assert bound(once) is once
    bound.warnings(value)


@PROPERTY
@given(st.text(max_size=30), money_options)
def test_any_text(value: str, amounts: dict[str, Any]) -> None:
    bound = text.normalizer(amounts=amounts)
    bound(value)
    bound.warnings(value)
