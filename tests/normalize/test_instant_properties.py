"""What must hold of every date: nothing crashes, twice is once, and datetime and zoneinfo agree where they decide."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.normalize import instant, instant_zone
from protocontract.violations import Refusal
from tests.examples import examples

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = (
    "UTC",
    "Asia/Shanghai",
    "America/New_York",
    "Europe/London",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Antarctica/Troll",
    "America/Nuuk",
    "Africa/Casablanca",
    "Europe/Dublin",
    "Asia/Kathmandu",
    "America/Havana",
)
PIECES = (
    "2024",
    "03",
    "1",
    "29",
    "12",
    "60",
    "24",
    "0",
    "-",
    "/",
    ".",
    ":",
    "T",
    "Z",
    " ",
    "+08:00",
    "-",
    "−",
    "年",
    "月",
    "日",
    "上午",
    "晚",
    "点",
    "分",
    "PM",
    "Fri",
    ",",
    "Mar",
    "GMT",
    "[Asia/Shanghai]",
    "(x)",
    "\u3000",
    "３",
    "：",
    "星期五",
    "\u200b",
    "\ud800",
    "CST",
    "1709253000",
    ".5",
    "民國",
    "[",
    "(",
    "UTC+8",
    "\x1f",
    "١",
)
DIRT = st.lists(st.sampled_from(PIECES), max_size=14).map("".join) | st.text(max_size=40)
OPTIONS = st.fixed_dictionaries(
    {
        "zone": st.none() | st.sampled_from(ZONES),
        "order": st.sampled_from((None, "DMY", "MDY")),
        "epoch_unit": st.sampled_from((None, "s", "ms", "us", "ns")),
        "fold": st.sampled_from((None, "earlier", "later")),
        "gap": st.sampled_from((None, "shift_forward")),
        "leap_second": st.sampled_from(("reject", "next_second")),
        "hour24": st.sampled_from(("reject", "next_day")),
        "date_only": st.sampled_from(("reject", "start_of_day")),
        "excess_fraction": st.sampled_from(("reject", "truncate")),
    }
)


@settings(max_examples=examples(1000), deadline=None, derandomize=True)
@given(DIRT, OPTIONS)
def test_no_text_crashes_and_twice_is_once(value: str, options: dict[str, Any]) -> None:
    twin = instant.normalizer(**options)
    result = twin(value)
    if isinstance(result, Refusal):
        assert len(value) < 12 or value not in result.message
    else:
        assert twin(result) is result
        assert instant.text(*instant.seconds_nanos(result)) == result


@settings(max_examples=examples(1000), deadline=None, derandomize=True)
@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),  # noqa: DTZ001
    st.integers(-1439, 1439),
    st.sampled_from("T "),
)
def test_datetime_agrees(naive: datetime, minutes: int, between: str) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    result = instant.normalize(moment.isoformat(between)).value
    span = moment - EPOCH
    assert instant.seconds_nanos(result) == (
        span // timedelta(seconds=1),
        span % timedelta(seconds=1) // timedelta(microseconds=1) * 1000,
    )


@settings(max_examples=examples(1000), deadline=None, derandomize=True)
@given(st.integers(-2_208_988_800, 4_102_444_800), st.sampled_from(ZONES))
def test_every_local_time_has_its_instant_among_its_readings(second: int, name: str) -> None:
    zone = instant_zone.load(name)
    assert zone is not None
    moment = (EPOCH + timedelta(seconds=second)).astimezone(zone)
    written = moment.strftime("%Y-%m-%d %H:%M:%S")
    expected = moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    plain = instant.normalizer(zone=name)(written)
    both = {instant.normalizer(zone=name, fold=fold)(written) for fold in ("earlier", "later")}
    assert expected in both
    if isinstance(plain, Refusal):
        assert plain.rule_id == "instant.fold"
        assert len(both) == 2
    else:
        assert both == {plain}


@settings(max_examples=examples(1000), deadline=None, derandomize=True)
@given(st.integers(-62135510400, 253402214400), st.integers(-1439, 1439))
def test_all_written_forms_name_the_same_moment(second: int, minutes: int) -> None:
    moment = (EPOCH + timedelta(seconds=second)).astimezone(timezone(timedelta(minutes=minutes)))
    year, offset = f"{moment.year:04d}", moment.strftime("%z")
    day, clock, month = f"{moment.day}", moment.strftime("%H:%M:%S"), moment.strftime("%b")
    weekday, half = moment.strftime("%a"), moment.strftime("%I:%M:%S %p")
    forms = [
        f"{weekday}, {day} {month} {year} {clock} {offset}",
        f"{weekday} {month} {day} {year} {clock} GMT{offset} (a comment)",
        f"{weekday} {month} {day:>2} {clock} {offset} {year}",
        f"{moment:%B} {day}, {year}, {half} {offset}",
        f"{year}/{moment.month}/{day} {half} {offset}",
        f"{year}年{moment.month}月{day}日({'月火水木金土日'[moment.weekday()]}) "
        f"{moment.hour}时{moment.minute}分{moment.second}秒 {offset}",
        f"{year}{moment:%m%dT%H%M%S}{offset}",
    ]
    expected = instant.text(second, 0)
    assert [instant.normalize(form).value for form in forms] == [expected] * len(forms)


@settings(max_examples=examples(1000), deadline=None, derandomize=True)
@given(
    st.integers(instant_zone.FIRST_SECOND, instant_zone.LAST_SECOND),
    st.integers(0, 999_999_999),
    st.sampled_from(("s", "ms", "us", "ns")),
)
def test_epochs_are_exact(seconds: int, nanos: int, unit: str) -> None:
    digits = {"s": 9, "ms": 6, "us": 3, "ns": 0}[unit]
    total = seconds * 10**9 + nanos
    whole, rest = divmod(abs(total), 10**digits)
    written = f"{'-' if total < 0 else ''}{whole}" + (f".{rest:0{digits}d}" if digits else "")
    result = instant.normalize(written, epoch_unit=unit).value
    assert instant.seconds_nanos(result) == (seconds, nanos)
