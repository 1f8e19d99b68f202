"""The instant normalizer: the shared cases, and each policy by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from protocontract.normalize import instant, instant_zone
from protocontract.violations import Normalized, OptionError, Refusal, Refused
from tests.normalize.value_contracts import cases

CASES = cases("instants")


def outcome(value: Any, **options: Any) -> str:
    """The canonical text, or the rule id of the refusal."""
    result = instant.normalizer(**options)(value)
    return result.rule_id if isinstance(result, Refusal) else result


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_shared_case(case: dict[str, Any]) -> None:
    if isinstance(case["expect"], str):
        assert instant.normalize(case["input"], **case["context"]).value == case["expect"]
    else:
        with pytest.raises(Refused) as refused:
            instant.normalize(case["input"], **case["context"])
        assert refused.value.rule_id.startswith("instant.")
        assert not case["input"] or case["input"] not in str(refused.value)


SHANGHAI = {"zone": "Asia/Shanghai"}
NEW_YORK = {"zone": "America/New_York"}


@pytest.mark.parametrize(
    ("value", "options", "expected"),
    [
        # separators, fractions, edges
        ("2024-03-01t08:30:00z", {}, "2024-03-01T08:30:00Z"),
        ("2024-03-01T08:30:00,5Z", {}, "2024-03-01T08:30:00.500Z"),
        ("2024-03-01T08:30:00.1200Z", {}, "2024-03-01T08:30:00.120Z"),
        ("20240301T0830+0800", {}, "2024-03-01T00:30:00Z"),
        ("20240301T083000,123456Z", {}, "2024-03-01T08:30:00.123456Z"),
        ("2024-03-01T083000Z", {}, "instant.syntax"),
        ("20240301T08:30:00Z", {}, "instant.syntax"),
        ("2024-03/01 08:30Z", {}, "instant.syntax"),
        ("\ufeff2024-03-01T08:30:00Z", {}, "instant.syntax"),
        ("2024-03-01T08:30:00Z\x1f", {}, "instant.syntax"),
        ("2024-03-01T08:30:00Z" + " " * 2000, {}, "2024-03-01T08:30:00Z"),
        ("2024-03-01T08:30:00Z (" + "x" * 2000 + ")", {}, "instant.syntax"),
        ("٢٠٢٤-٠٣-٠١T08:30:00Z", {}, "instant.syntax"),
        ("2024-3-1 8:5Z", {}, "instant.syntax"),
        # offsets
        ("2024-03-01T08:30:00+08", {}, "2024-03-01T00:30:00Z"),
        ("2024-03-01 08:30:00 +0800", {}, "2024-03-01T00:30:00Z"),
        ("2024-03-01 08:30:00 UTC+8", {}, "2024-03-01T00:30:00Z"),
        ("2024-03-01 08:30:00 GMT-0330", {}, "2024-03-01T12:00:00Z"),
        ("2024-03-01T08:30:00+24:00", {}, "instant.zone"),
        ("2024-03-01T08:30:00+800", {}, "instant.syntax"),
        ("2024-03-01T08:30:00Z+08:00", {}, "instant.zone"),
        ("2024-03-01T08:30:00+08:00Z", {}, "instant.zone"),
        ("2024-03-01 08:30 A", {}, "instant.zone"),
        ("2024-03-01 08:30:00EST", {}, "instant.zone"),
        # RFC 9557
        ("2024-03-01T08:30:00+09:00[Asia/Shanghai]", {}, "instant.zone"),
        ("2024-03-01T08:30:00+08:00[Asia/Nowhere]", {}, "instant.zone"),
        ("2024-03-01T08:30:00+08:00[!Asia/Shanghai][u-ca=chinese]", {}, "2024-03-01T00:30:00Z"),
        ("2024-03-01T08:30:00+08:00[Asia/Shanghai][!u-ca=chinese]", {}, "instant.zone"),
        ("2024-03-01T08:30:00Z[Asia/Shanghai]", {}, "2024-03-01T08:30:00Z"),
        ("2024-03-01T08:30:00+00:00[Asia/Shanghai]", {}, "instant.zone"),
        ("2024-03-01T08:30:00+08:00[+08:00]", {}, "2024-03-01T00:30:00Z"),
        ("2024-03-01T08:30:00+08:00[+09:00]", {}, "instant.zone"),
        ("2011-11-06T01:30:00-05:00[America/New_York]", {}, "2011-11-06T06:30:00Z"),
        # an offset in the text wins
        ("2024-03-01T08:30:00+01:00", SHANGHAI, "2024-03-01T07:30:00Z"),
        # folds and gaps
        ("2011-11-06 01:30:00", NEW_YORK | {"fold": "earlier"}, "2011-11-06T05:30:00Z"),
        ("2011-11-06 01:30:00", NEW_YORK | {"fold": "later"}, "2011-11-06T06:30:00Z"),
        ("2024-03-10 02:30:00", NEW_YORK | {"gap": "shift_forward"}, "2024-03-10T07:30:00Z"),
        ("2011-12-30 12:00", {"zone": "Pacific/Apia", "gap": "shift_forward"}, "2011-12-30T22:00:00Z"),
        ("2024-03-10 02:30:00", NEW_YORK | {"fold": "later"}, "instant.gap"),
        ("2011-11-06 01:30:00", NEW_YORK | {"gap": "shift_forward"}, "instant.fold"),
        # years at both ends, after conversion
        ("9999-12-31T24:00:00+08:00", {"hour24": "next_day"}, "9999-12-31T16:00:00Z"),
        ("9999-12-31T24:00:00", SHANGHAI | {"hour24": "next_day"}, "9999-12-31T16:00:00Z"),
        ("9999-12-31T23:00:00-02:00", {}, "instant.range"),
        ("0001-01-01T00:00:00", SHANGHAI, "instant.range"),
        ("0001-01-01T00:00:00", NEW_YORK, "0001-01-01T04:56:02Z"),
        ("0000-12-31T23:00:00-02:00", {}, "0001-01-01T01:00:00Z"),
        ("0000-06-01T00:00:00Z", {}, "instant.range"),
        # leap seconds
        ("1990-12-31T23:59:60Z", {"leap_second": "next_second"}, "1991-01-01T00:00:00Z"),
        ("1990-12-31T15:59:60.5-08:00", {"leap_second": "next_second"}, "1991-01-01T00:00:00.500Z"),
        ("1990-12-30T23:59:60Z", {"leap_second": "next_second"}, "instant.syntax"),
        ("1990-12-31T22:59:60Z", {"leap_second": "next_second"}, "instant.syntax"),
        ("1990-12-31T23:59:61Z", {"leap_second": "next_second"}, "instant.syntax"),
        ("9999-12-31T23:59:60Z", {"leap_second": "next_second"}, "instant.range"),
        # dates alone
        ("2024-03-01", SHANGHAI, "instant.syntax"),
        ("2024-03-01", {"date_only": "start_of_day"}, "instant.zone"),
        ("2024-03-01Z", {"date_only": "start_of_day"}, "2024-03-01T00:00:00Z"),
        ("2024年3月1日", SHANGHAI | {"date_only": "start_of_day"}, "2024-02-29T16:00:00Z"),
        ("1 Mar 2024", SHANGHAI | {"date_only": "start_of_day"}, "2024-02-29T16:00:00Z"),
        ("Mar 1", SHANGHAI | {"date_only": "start_of_day"}, "instant.syntax"),
        # orders
        ("13/12/2020 00:00Z", {}, "2020-12-13T00:00:00Z"),
        ("12/13/2020 00:00Z", {}, "2020-12-13T00:00:00Z"),
        ("05.05.2020 00:00Z", {}, "2020-05-05T00:00:00Z"),
        ("01/02/2017 00:00Z", {"order": "MDY"}, "2017-01-02T00:00:00Z"),
        ("13/13/2020 00:00Z", {}, "instant.syntax"),
        # numbers
        (1709253000, {"epoch_unit": "s"}, "2024-03-01T00:30:00Z"),
        (-1, {"epoch_unit": "ns"}, "1969-12-31T23:59:59.999999999Z"),
        (1709253000, {}, "instant.ambiguous"),
        (10**3000, {"epoch_unit": "ns"}, "instant.range"),
        ("9" * 400, {"epoch_unit": "s"}, "instant.range"),
        ("1709253000000.5", {"epoch_unit": "ms"}, "2024-03-01T00:30:00.000500Z"),
        ("-0.0000000019", {"epoch_unit": "s", "excess_fraction": "truncate"}, "1969-12-31T23:59:59.999999999Z"),
        ("1.7e9", {"epoch_unit": "s"}, "instant.syntax"),
        ("１７０９２５３０００", {"epoch_unit": "s"}, "2024-03-01T00:30:00Z"),
        (True, {"epoch_unit": "s"}, "instant.syntax"),
        (1709253000.0, {"epoch_unit": "s"}, "instant.syntax"),
        (None, {}, "instant.syntax"),
        # half days
        ("2024-03-01 12:00 a.m.", SHANGHAI, "2024-02-29T16:00:00Z"),
        ("2024-03-01 0:30 AM", SHANGHAI, "instant.syntax"),
        ("2024/3/1 下午3:30:00", SHANGHAI, "2024-03-01T07:30:00Z"),
        ("2024年3月1日 晚上8点", SHANGHAI, "2024-03-01T12:00:00Z"),
        ("2024年3月1日 晚上12点", SHANGHAI, "instant.syntax"),
        ("2024年3月1日 下午13:30", SHANGHAI, "instant.syntax"),
        ("2024年3月1日 午後0時30分", {"zone": "Asia/Tokyo"}, "2024-03-01T03:30:00Z"),
        ("2024年3月1日8时30分15秒", SHANGHAI, "2024-03-01T00:30:15Z"),
        ("2024年3月1日（金）8:30 +08:00", {}, "2024-03-01T00:30:00Z"),
        ("令和6年3月1日 8:30", SHANGHAI, "instant.syntax"),
        ("2024年3月1日 下午3:30 PM", SHANGHAI, "instant.syntax"),
        # mail, HTTP, JavaScript, date(1)
        ("Fri Mar 01 2024 08:30:00 GMT+0800 (China Standard Time)", {}, "2024-03-01T00:30:00Z"),
        ("Fri Mar  1 08:30:00 UTC 2024", {}, "2024-03-01T08:30:00Z"),
        ("Fri Mar  1 08:30:00 CST 2024", {}, "instant.zone"),
        ("Thu, 01 Mar 2024 08:30:00 +0800", {}, "instant.syntax"),
        ("Fri, 01 Mar 2024 08:30 +0800", {}, "2024-03-01T00:30:00Z"),
        ("Friday, 01-Mar-2024 08:30:00 GMT", {}, "2024-03-01T08:30:00Z"),
        ("yesterday", SHANGHAI, "instant.syntax"),
        ("2024-03-01 (x)", SHANGHAI, "instant.syntax"),
    ],
)
def test_policy(value: Any, options: dict[str, Any], expected: str) -> None:
    assert outcome(value, **options) == expected


@pytest.mark.parametrize(
    "canonical",
    [
        "2024-03-01T08:30:00Z",
        "2024-02-29T08:30:00.120Z",
        "0001-01-01T00:00:00.000001Z",
        "9999-12-31T23:59:59.999999999Z",
        "2000-02-29T00:00:00Z",
    ],
)
def test_canonical_text_is_the_same_object(canonical: str) -> None:
    normalized = instant.normalize(canonical)
    assert normalized.value is canonical
    assert normalized == Normalized(canonical)


def test_a_change_is_recorded() -> None:
    (change,) = instant.normalize("2024-03-01 08:30Z").changes
    assert (change.before, change.after) == ("2024-03-01 08:30Z", "2024-03-01T08:30:00Z")


def test_bounds_compare_fractions() -> None:
    bounds = {"min": "2024-03-01T08:30:00.5Z", "max": "2024-03-01T16:30:01+08:00"}
    assert outcome("2024-03-01T08:30:00.499999999Z", **bounds) == "instant.range"
    assert outcome("2024-03-01T08:30:00.500Z", **bounds) == "2024-03-01T08:30:00.500Z"
    assert outcome("2024-03-01T08:30:01Z", **bounds) == "2024-03-01T08:30:01Z"
    assert outcome("2024-03-01T08:30:01.000000001Z", **bounds) == "instant.range"


@pytest.mark.parametrize(
    "options",
    [
        {"zone": "Mars/Olympus"},
        {"zone": "../../etc/passwd"},
        {"zone": ""},
        {"order": "YMD"},
        {"epoch_unit": "h"},
        {"fold": "both"},
        {"gap": "earlier"},
        {"min": "yesterday"},
        {"max": "2024-03-01"},
        {"min": "2024-03-02T00:00:00Z", "max": "2024-03-01T00:00:00Z"},
        {"leap_second": "smear"},
    ],
)
def test_wrong_options_are_option_errors(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        instant.normalizer(**options)


def test_seconds_and_nanos() -> None:
    assert instant.seconds_nanos("1969-12-31T23:59:59.500Z") == (-1, 500_000_000)
    assert instant.text(-1, 500_000_000) == "1969-12-31T23:59:59.500Z"
    moment = datetime(2024, 2, 29, 12, 30, 15, tzinfo=UTC)
    assert instant.seconds_nanos("2024-02-29T12:30:15Z") == (int(moment.timestamp()), 0)
    with pytest.raises(ValueError):
        instant.seconds_nanos("2024-02-29 12:30:15Z")
    with pytest.raises(ValueError):
        instant.text(instant_zone.LAST_SECOND + 1, 0)


def test_zone_data_come_from_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    import zoneinfo

    monkeypatch.setattr(zoneinfo, "TZPATH", ())
    instant_zone.load.cache_clear()
    zone = instant_zone.load("Asia/Shanghai")
    assert zone is not None
    assert zone.key == "Asia/Shanghai"
    assert instant.data_version()[:2] == "20"


@pytest.mark.parametrize(
    "value", ["\u017fun, 05 Jan 2020 00:00 Z", "1 \u017fep 2020 00:00 Z", "5 apr\u0131l 2020 00:00 Z"]
)
def test_letters_that_only_unicode_takes_for_ascii_are_no_names(value: str) -> None:
    refusal = instant.normalizer()(value)
    assert isinstance(refusal, Refusal)
    assert refusal.rule_id == "instant.syntax"
