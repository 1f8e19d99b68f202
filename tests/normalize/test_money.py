"""The money normalizer: the shared cases, and each policy by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from protocontract.normalize import money
from protocontract.normalize.money_currency import MINOR_DIGITS, WITHDRAWN
from protocontract.normalize.money_marks import MARKS
from protocontract.violations import Change, Normalized, OptionError, Refusal, Refused
from tests.normalize.value_contracts import cases

CASES = cases("money")
RULES = {"money.syntax", "money.currency", "money.ambiguous", "money.scale"}
# Kinds of refusal in the cases, where they have a rule of their own.
CASE_RULES = {
    "ambiguous_number": "money.ambiguous",
    "ambiguous_currency": "money.ambiguous",
    "scale": "money.scale",
    "unknown_currency": "money.currency",
    "obsolete_currency": "money.currency",
    "no_currency": "money.currency",
    "currency_conflict": "money.currency",
    "currency_not_allowed": "money.currency",
}


def outcome(value: Any, currency: str | None = None, **options: Any) -> str:
    """``CNY 1000.00``, or the rule id of the refusal."""
    result = money.normalizer(**options)(value, currency)
    return result.rule_id if isinstance(result, Refusal) else f"{result.currency} {result.amount}"


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_shared_case(case: dict[str, Any]) -> None:
    expected = case["expect"]
    if "error" in expected:
        with pytest.raises(Refused) as refused:
            money.normalize(case["input"], **case["context"])
        assert refused.value.rule_id == CASE_RULES.get(expected["error"], "money.syntax")
    else:
        value = money.normalize(case["input"], **case["context"]).value
        assert (value.currency, Decimal(value.amount)) == (expected["currency"], Decimal(expected["amount"]))


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        # Exactly the minor digits under currency and rounding, as written under any
        ("¥1000", {"default_currency": "CNY"}, "CNY 1000.00"),
        ("5", {"default_currency": "JPY"}, "JPY 5"),
        ("5", {"default_currency": "KWD"}, "KWD 5.000"),
        ("CLF 5,1234", {}, "CLF 5.1234"),
        ("XAU 5.55555", {}, "XAU 5.55555"),
        ("EUR 5.50", {"scale": "any"}, "EUR 5.50"),
        ("EUR 5.125", {"decimal": ".", "scale": "round_half_even"}, "EUR 5.12"),
        ("EUR 5.135", {"decimal": ".", "scale": "round_half_even"}, "EUR 5.14"),
        ("EUR -5.125", {"decimal": ".", "scale": "round_half_up"}, "EUR -5.13"),
        ("EUR -0.004", {"decimal": ".", "scale": "round_half_up"}, "EUR 0.00"),
        # Marks
        ("EUR 1.899,-", {}, "EUR 1899.00"),
        ("EUR 1.899,--", {}, "money.ambiguous"),
        ("CHF 50.—", {}, "CHF 50.00"),
        ("EUR 0,500", {"scale": "any"}, "EUR 0.500"),
        ("EUR 0.500", {"locale": "de-DE"}, "money.syntax"),
        ("EUR 1.23.456", {}, "money.syntax"),
        ("EUR 1 234,567", {"scale": "any"}, "EUR 1234.567"),
        ("EUR 1.234 567", {}, "money.syntax"),
        ("EUR 5.", {}, "EUR 5.00"),
        ("EUR 5.", {"locale": "de-DE"}, "money.syntax"),
        ("EUR 1.234.", {}, "money.syntax"),
        ("it costs EUR 5,50.", {"policy": "lenient"}, "EUR 5.50"),
        ("EUR 1.234,50", {"locale": "de-AT"}, "EUR 1234.50"),
        ("EUR 1.234,50", {"decimal": ",", "locale": "en-US"}, "EUR 1234.50"),
        ("INR 1,00,000", {"locale": "en-GB"}, "money.syntax"),
        ("INR 1,00,000", {"locale": "hi-IN"}, "INR 100000.00"),
        ("NOK 1 234,50", {"locale": "no-NO"}, "NOK 1234.50"),
        # Digits of one script
        ("১২,৩৪,৫৬৭.৫ BDT", {}, "BDT 1234567.50"),
        ("1２ EUR", {}, "EUR 12.00"),
        ("5½ EUR", {}, "money.syntax"),
        ("① EUR", {"policy": "lenient"}, "money.syntax"),
        ("EUR 5\u200e0", {}, "money.syntax"),
        # Chinese numerals
        ("一万五元", {}, "money.syntax"),
        ("一万零五元", {}, "CNY 10005.00"),
        ("3千5百元", {}, "CNY 3500.00"),
        ("1亿5000万美元", {}, "USD 150000000.00"),
        ("百元", {}, "money.syntax"),
        ("十几元", {"policy": "lenient"}, "money.syntax"),
        ("1兆円", {}, "JPY 1000000000000"),
        ("1兆元", {}, "money.ambiguous"),
        ("三毛", {}, "CNY 0.30"),
        ("一百元零五分", {}, "CNY 100.05"),
        ("5元30分", {}, "money.syntax"),
        ("一共5元", {"policy": "lenient"}, "CNY 5.00"),
        # Signs
        ("EUR -5", {}, "EUR -5.00"),
        ("-EUR 5", {}, "EUR -5.00"),
        ("50.00- EUR", {}, "EUR -50.00"),
        ("- 5 EUR", {}, "money.syntax"),
        ("–5 EUR", {}, "money.syntax"),
        ("–5 EUR", {"policy": "lenient"}, "EUR -5.00"),
        ("▲5 EUR", {"policy": "lenient"}, "money.syntax"),
        ("Total (5 EUR)", {"policy": "lenient"}, "money.syntax"),
        ("5 EUR DR", {"policy": "lenient"}, "money.syntax"),
        ("minus 5 EUR", {"policy": "lenient"}, "money.syntax"),
        ("负五元", {"policy": "lenient"}, "money.syntax"),
        # Multipliers never get lost
        ("5 USD million", {"policy": "lenient"}, "money.syntax"),
        ("€5 million", {"policy": "lenient"}, "EUR 5000000.00"),
        ("5 TEUR", {"policy": "lenient"}, "money.syntax"),
        ("5 Billionen EUR", {"policy": "lenient"}, "money.syntax"),
        ("5 billion EUR", {"policy": "lenient", "locale": "fr-FR"}, "money.syntax"),
        ("€5 m", {"policy": "lenient"}, "money.syntax"),
        ("1e99999 EUR", {"policy": "lenient"}, "money.syntax"),
        ("50 cents", {"policy": "lenient", "default_currency": "USD"}, "money.currency"),
        # Currencies
        ("$5", {"allowed": ["CAD", "EUR"]}, "CAD 5.00"),
        ("$5", {"locale": "en"}, "money.ambiguous"),
        ("£5", {"default_currency": "EGP"}, "EGP 5.00"),
        ("Fr. 5", {}, "CHF 5.00"),
        ("5 BGN", {}, "money.currency"),
        ("5 ₿", {}, "money.currency"),
        ("$$5", {"default_currency": "USD"}, "money.syntax"),
        ("BTC 5 $", {"policy": "lenient", "default_currency": "USD"}, "money.currency"),
        ("All for 5 EUR", {"policy": "lenient"}, "EUR 5.00"),
        ("Fr. Müller 5 EUR", {"policy": "lenient"}, "EUR 5.00"),
        ("100 Canadian dollars", {"policy": "lenient", "default_currency": "USD"}, "money.currency"),
        ("100 dollars", {"default_currency": "USD"}, "USD 100.00"),
        ("5 km", {}, "money.syntax"),
        # What is no text, or too much of it
        (None, {}, "money.syntax"),
        (b"5 EUR", {}, "money.syntax"),
        ("5" * 1001, {"default_currency": "EUR"}, "money.syntax"),
        ("万" * 999, {"default_currency": "CNY"}, "money.syntax"),
        ("一万" * 400 + "元", {}, "money.syntax"),
        ("5万" * 400 + "元", {"policy": "lenient"}, "money.syntax"),
        ("5" * 900, {"default_currency": "JPY"}, "JPY " + "5" * 900),
    ],
)
def test_policy(value: Any, options: dict[str, Any], expected: str) -> None:
    assert outcome(value, **options) == expected


@pytest.mark.parametrize(
    ("value", "currency", "options", "expected"),
    [
        # A canonical amount beside its code is kept whatever the locale, but its currency and scale are checked
        ("1000.00", "EUR", {"locale": "de-DE"}, "EUR 1000.00"),
        ("1.234", "KWD", {"locale": "ar-KW"}, "KWD 1.234"),
        ("1.234", "EUR", {"locale": "de-DE"}, "money.scale"),
        ("5.00", "EUR", {"allowed": ["USD"]}, "money.currency"),
        ("5.00", "DEM", {}, "money.currency"),
        ("5.00", "euro", {}, "money.currency"),
        ("5", "usd", {}, "USD 5.00"),
        ("-0.00", "EUR", {}, "EUR 0.00"),
        ("1.2345", "EUR", {"scale": "any"}, "EUR 1.2345"),
        # What is not canonical is read, and the code counts as a code in the text
        ("1.234,50", "EUR", {"locale": "de-DE", "default_currency": "USD"}, "EUR 1234.50"),
        ("$5", "CAD", {"default_currency": "USD"}, "CAD 5.00"),
        ("€5", "USD", {}, "money.currency"),
    ],
)
def test_stored_code(value: str, currency: str, options: dict[str, Any], expected: str) -> None:
    assert outcome(value, currency, **options) == expected


def test_unchanged_is_the_same_object() -> None:
    value = "".join(["1000", ".00"])
    for normalize in (money.normalizer(default_currency="USD"), money.normalizer(sole_currency="USD", locale="de-DE")):
        result = normalize(value)
        assert isinstance(result, money.Money)
        assert result.amount is value
    stored = money.normalizer(locale="de-DE")(value, "EUR")
    assert isinstance(stored, money.Money)
    assert stored.amount is value


def test_normalize_tells_the_change() -> None:
    assert money.normalize("5.00", default_currency="USD") == Normalized(money.Money("5.00", "USD"))
    changed = money.normalize("$5", default_currency="USD")
    assert changed.changes == (Change("", "money", "$5", money.Money("5.00", "USD")),)


def test_messages_do_not_quote_the_value() -> None:
    for case in CASES:
        result = money.normalizer(**case["context"])(case["input"])
        if isinstance(result, Refusal) and len(case["input"]) > 3:
            assert case["input"] not in result.message


@pytest.mark.parametrize(
    ("options", "option"),
    [
        ({"default_currency": "EURO"}, "default_currency"),
        ({"default_currency": "eur"}, "default_currency"),
        ({"default_currency": "DEM"}, "default_currency"),
        ({"allowed": ["EUR", "HRK"]}, "allowed"),
        ({"allowed": "EUR"}, "allowed"),
        ({"locale": "xx-YY"}, "locale"),
        ({"locale": "de-US-x"}, "locale"),
        ({"decimal": ";"}, "decimal"),
        ({"scale": "two"}, "scale"),
        ({"policy": "loose"}, "policy"),
    ],
)
def test_option_errors(options: dict[str, Any], option: str) -> None:
    with pytest.raises(OptionError) as error:
        money.normalizer(**options)
    assert error.value.option == option


@pytest.mark.parametrize(
    ("options", "field", "expected"),
    [
        ({}, True, None),
        ({"locale": "de-DE", "scale": "any"}, True, None),
        ({}, False, "currency_field"),
        ({"default_currency": "EUR"}, False, "currency_field"),
        ({"allowed": ["EUR", "USD"]}, False, "currency_field"),
        ({"allowed": ["EUR"]}, False, "=EUR"),
        ({"allowed": ["EUR"], "locale": "de-DE"}, False, "=EUR"),
        ({"allowed": ["EUR"], "locale": "de-DE", "scale": "any"}, False, "locale"),
        ({"allowed": ["KWD"], "locale": "de-DE"}, False, "locale"),
        ({"allowed": ["KWD"], "decimal": ","}, False, "decimal"),
        ({"allowed": ["KWD"], "locale": "en-US"}, False, "=KWD"),
        ({"allowed": ["EUR"], "default_currency": "USD"}, True, None),
        ({"allowed": ["EUR"], "default_currency": "USD"}, False, "default_currency"),
    ],
)
def test_check_options(options: dict[str, Any], field: bool, expected: str | None) -> None:
    if expected is None or expected.startswith("="):
        sole = money.check_options(**options, has_currency_field=field)
        assert sole == (expected[1:] if expected else None)
    else:
        with pytest.raises(OptionError) as error:
            money.check_options(**options, has_currency_field=field)
        assert error.value.option == expected


def test_sole_currency_keeps_what_it_wrote() -> None:
    normalize = money.normalizer(allowed=["EUR"], locale="de-DE", sole_currency="EUR")
    assert normalize("1.234,50") == money.Money("1234.50", "EUR")
    assert normalize("1234.50") == money.Money("1234.50", "EUR")
    assert normalize("1.234") == money.Money("1234.00", "EUR")


def test_currencies_agree_with_cldr() -> None:
    """Codes of today are CLDR's, but for those that differ by design."""
    from babel.core import get_global

    today = {
        code for entries in get_global("territory_currencies").values() for code, _, end, _ in entries if end is None
    }
    # CLDR knows the offshore yuan, tests and "no currency"; ISO 4217 still lists El Salvador's colon.
    assert today - set(MINOR_DIGITS) == {"CNH", "XTS", "XXX"}
    assert set(MINOR_DIGITS) - today == {"SVC"}
    assert not WITHDRAWN & set(MINOR_DIGITS)
    fractions = get_global("currency_fractions")
    for code in ("JPY", "KRW", "VND", "CLP", "ISK", "XOF", "XAF", "BHD", "JOD", "KWD", "LYD", "OMR", "TND", "CLF"):
        assert MINOR_DIGITS[code] == fractions[code][0]
    # Where CLDR's display digits differ, ISO 4217 counts.
    assert (MINOR_DIGITS["IQD"], MINOR_DIGITS["HUF"], MINOR_DIGITS["MGA"], MINOR_DIGITS["LBP"]) == (3, 2, 2, 2)


def test_marks_name_currencies_of_today() -> None:
    for mark in MARKS.values():
        assert mark.candidates <= set(MINOR_DIGITS)
        assert mark.unknown != bool(mark.candidates)
        assert mark.primary is None or mark.primary in mark.candidates


def test_marks_cover_cldr() -> None:
    """A sign that CLDR uses for a currency in some locale, and that is in our table, has that currency."""
    from babel.core import Locale
    from babel.localedata import locale_identifiers

    for identifier in locale_identifiers():
        for code, symbol in Locale.parse(identifier).currency_symbols.items():
            mark = MARKS.get(symbol.strip("\u200e\u200f"))
            if mark is not None and not mark.unknown and code in MINOR_DIGITS and symbol not in {"元", "￥"}:
                assert code in mark.candidates, (identifier, symbol)
