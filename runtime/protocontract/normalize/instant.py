"""Moments: what people and machines write for one, made RFC 3339 in UTC.

The result has 0, 3, 6 or 9 fraction digits, as protobuf prints a Timestamp. Zone data come from the pinned tzdata
package. What can be read in two ways is refused unless an option decides it. The policies: docs/normalizers.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final
from zoneinfo import ZoneInfo

from protocontract.normalize import instant_zone
from protocontract.normalize.instant_written import Epoch, Written, days_in_month, syntax
from protocontract.violations import Change, Normalized, OptionError, Refusal, Refused, describe

_DAY: Final = instant_zone.DAY
_NANOS: Final = 1_000_000_000
_UNIT_DIGITS: Final = {"s": 9, "ms": 6, "us": 3, "ns": 0}

# Canonical text with a day that every year has. 29 February takes the long way.
_CANONICAL: Final = re.compile(
    r"(?!0000)[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(?:\.(?:(?!000Z)[0-9]{3}|[0-9]{3}(?!000Z)[0-9]{3}|[0-9]{6}(?!000Z)[0-9]{3}))?Z"
).fullmatch

_Twin = Callable[[object], "str | Refusal"]


def normalize(
    value: str | int,
    *,
    zone: str | None = None,
    order: str | None = None,
    epoch_unit: str | None = None,
    fold: str | None = None,
    gap: str | None = None,
    leap_second: str | None = None,
    hour24: str | None = None,
    date_only: str | None = None,
    excess_fraction: str | None = None,
    min: str | None = None,  # noqa: A002  (the option's name in contract.proto)
    max: str | None = None,  # noqa: A002
) -> Normalized[str]:
    """The moment that ``value`` names, as RFC 3339 in UTC.

    ``zone``: IANA name for local times. ``order``: "DMY" or "MDY". ``epoch_unit``: "s", "ms", "us", "ns", unit of a
    bare number. ``fold``: "earlier" or "later". ``gap``: "shift_forward". ``leap_second``: "next_second".
    ``hour24``: "next_day". ``date_only``: "start_of_day". ``excess_fraction``: "truncate". ``min``, ``max``: RFC 3339,
    inclusive. None, or "reject" where an option only widens, refuses.

    Raises Refused (instant.syntax, .ambiguous, .zone, .gap, .fold, .range) and OptionError for wrong options.
    """
    result = normalizer(
        zone=zone,
        order=order,
        epoch_unit=epoch_unit,
        fold=fold,
        gap=gap,
        leap_second=leap_second,
        hour24=hour24,
        date_only=date_only,
        excess_fraction=excess_fraction,
        min=min,
        max=max,
    )(value)
    if isinstance(result, Refusal):
        raise Refused.of(result)
    if result is value:
        return Normalized(result)
    return Normalized(result, (Change("", "instant", value, result),))


def normalizer(
    *,
    zone: str | None = None,
    order: str | None = None,
    epoch_unit: str | None = None,
    fold: str | None = None,
    gap: str | None = None,
    leap_second: str | None = None,
    hour24: str | None = None,
    date_only: str | None = None,
    excess_fraction: str | None = None,
    min: str | None = None,  # noqa: A002
    max: str | None = None,  # noqa: A002
) -> _Twin:
    """The non-raising twin of ``normalize`` with its options bound. Raises OptionError.

    It returns the same object where the text is canonical already, and a Refusal where the value is refused.
    """
    rules = _Rules(
        zone=_zone_option(zone),
        order=_choice("order", order.upper() if isinstance(order, str) else order, "DMY", "MDY"),
        epoch_digits=None if epoch_unit is None else _UNIT_DIGITS.get(epoch_unit, -1),
        fold=_choice("fold", fold, "earlier", "later"),
        shift=_choice("gap", gap, "shift_forward") is not None,
        leap=_choice("leap_second", leap_second, "next_second") is not None,
        hour24=_choice("hour24", hour24, "next_day") is not None,
        date_only=_choice("date_only", date_only, "start_of_day") is not None,
        truncate=_choice("excess_fraction", excess_fraction, "truncate") is not None,
    )
    if rules.epoch_digits == -1:
        raise OptionError("epoch_unit", "no unit of an epoch; expected s, ms, us or ns")
    lower, upper = _bound("min", min), _bound("max", max)
    if lower is not None and upper is not None and lower > upper:
        raise OptionError("min", "above max")
    convert = rules.convert
    canonical = _CANONICAL

    def unbounded(value: Any) -> str | Refusal:
        if value.__class__ is str and canonical(value):
            return value
        return convert(value)

    if lower is None and upper is None:
        return unbounded
    # Canonical texts without their Z order as the moments do: "." sorts after the end of the text, and fractions are
    # compared from the left.
    low = "" if lower is None else lower[:-1]
    high = "9999-12-31T23:59:59.999999999" if upper is None else upper[:-1]

    def bounded(value: object) -> str | Refusal:
        result = unbounded(value)
        if isinstance(result, Refusal) or low <= result[:-1] <= high:
            return result
        return Refusal(
            "instant.range", f"outside of the declared bounds; expected a moment inside, got {describe(value)}"
        )

    return bounded


def seconds_nanos(canonical: str) -> tuple[int, int]:
    """Seconds since the epoch and nanoseconds (0 to 999,999,999) of a canonical text, as a Timestamp holds them.

    ``canonical`` is what ``normalize`` returns; anything else raises ValueError.
    """
    head, _, fraction = canonical[:-1].partition(".")
    if canonical[-1:] != "Z" or len(head) != 19 or head[10] != "T":
        raise ValueError("not canonical; expected RFC 3339 in UTC as normalize returns it")
    days = _days(int(head[0:4]), int(head[5:7]), int(head[8:10]))
    seconds = days * _DAY + int(head[11:13]) * 3600 + int(head[14:16]) * 60 + int(head[17:19])
    return seconds, int(fraction.ljust(9, "0")) if fraction else 0


def text(seconds: int, nanos: int) -> str:
    """The canonical text of a Timestamp's two numbers. Raises ValueError outside of years 1 to 9999."""
    if not (instant_zone.FIRST_SECOND <= seconds <= instant_zone.LAST_SECOND and 0 <= nanos < _NANOS):
        raise ValueError("outside of the years 1 to 9999")
    days, rest = divmod(seconds, _DAY)
    year, month, day = _civil(days)
    if nanos == 0:
        fraction = ""
    elif nanos % 1_000_000 == 0:
        fraction = f".{nanos // 1_000_000:03d}"
    elif nanos % 1_000 == 0:
        fraction = f".{nanos // 1_000:06d}"
    else:
        fraction = f".{nanos:09d}"
    return f"{year:04d}-{month:02d}-{day:02d}T{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}{fraction}Z"


def data_version() -> str:
    """The IANA release of the zone data that every result depends on."""
    return instant_zone.data_version()


class _Rules:
    """Options, checked, and what follows from them."""

    __slots__ = ("_date_only", "_fold", "_hour24", "_leap", "_order", "_shift", "_truncate", "_zone", "epoch_digits")

    def __init__(
        self,
        *,
        zone: ZoneInfo | None,
        order: str | None,
        epoch_digits: int | None,
        fold: str | None,
        shift: bool,
        leap: bool,
        hour24: bool,
        date_only: bool,
        truncate: bool,
    ) -> None:
        self._zone = zone
        self._order = order
        self.epoch_digits = epoch_digits
        self._fold = fold
        self._shift = shift
        self._leap = leap
        self._hour24 = hour24
        self._date_only = date_only
        self._truncate = truncate

    def convert(self, value: object) -> str | Refusal:
        """The canonical text, without the declared bounds."""
        if isinstance(value, str):
            from protocontract.normalize.instant_parse import read  # with the first moment that is not clean

            written = read(value, self._order)
            if isinstance(written, Refusal):
                return written
        elif isinstance(value, int) and not isinstance(value, bool):
            # Rendering is quadratic in the number of digits, and Python refuses it above 4,300.
            whole = str(abs(value)) if value.bit_length() < 128 else "9" * 39
            written = Epoch(value < 0, whole, "")
        else:
            return Refusal("instant.syntax", f"not a text; expected a date and time, got {describe(value)}")
        moment = self._epoch(written, value) if isinstance(written, Epoch) else self._moment(written, value)
        if isinstance(moment, Refusal):
            return moment
        seconds, nanos = moment
        if not instant_zone.FIRST_SECOND <= seconds <= instant_zone.LAST_SECOND:
            return Refusal("instant.range", f"outside of the years 1 to 9999 in UTC, got {describe(value)}")
        result = text(seconds, nanos)
        return value if value == result and isinstance(value, str) else result

    def _epoch(self, number: Epoch, value: object) -> tuple[int, int] | Refusal:
        digits = self.epoch_digits
        if digits is None:
            return Refusal(
                "instant.ambiguous",
                "a bare number: seconds, a compact date or a spreadsheet's day; "
                f"expected a declared unit, got {describe(value)}",
            )
        fraction = number.fraction
        if len(fraction) > digits:
            if not self._truncate:
                return syntax("finer than a nanosecond; expected at most nine digits of a second", value)
            fraction = fraction[:digits]
        whole = number.whole.lstrip("0")
        if len(whole) > 30:
            return Refusal("instant.range", f"outside of the years 1 to 9999 in UTC, got {describe(value)}")
        nanos = int((whole or "0") + fraction.ljust(digits, "0"))
        return divmod(-nanos if number.negative else nanos, _NANOS)

    def _moment(self, written: Written, value: object) -> tuple[int, int] | Refusal:
        fraction = written.fraction
        if len(fraction) > 9:
            if not self._truncate:
                return syntax("more than nine fraction digits; expected at most nine", value)
            fraction = fraction[:9]
        hour, second = written.hour, written.second
        if hour is None:
            if not self._date_only:
                return syntax("a date without a time; expected both", value)
            hour = 0
        if hour == 24 and not self._hour24:
            return syntax("hour 24; expected 0 to 23", value)
        leap = second == 60
        if leap and not self._leap:
            return syntax("second 60; expected 0 to 59", value)
        days = _days(written.year, written.month, written.day)
        local = days * _DAY + hour * 3600 + written.minute * 60 + second - leap
        instant = self._utc(written, local, value)
        if isinstance(instant, Refusal):
            return instant
        if leap:
            if not _ends_month(instant):
                return syntax("second 60 inside a month; expected it at the end of a month in UTC only", value)
            instant += 1
        return instant, int(fraction.ljust(9, "0"))

    def _utc(self, written: Written, local: int, value: object) -> int | Refusal:
        if written.zone is None:
            if written.offset is None:
                if self._zone is not None:
                    return self._in_zone(self._zone, local, value)
                if written.zone_offset is None:
                    return Refusal(
                        "instant.zone",
                        f"a local time without a zone; expected an offset or a declared zone, got {describe(value)}",
                    )
                return local - written.zone_offset
            if written.zone_offset not in (None, written.offset) and not written.vague:
                return _disagrees(value)
            return local - written.offset
        zone = instant_zone.load(written.zone)
        if zone is None:
            return Refusal("instant.zone", f"an unknown zone in brackets; expected an IANA name, got {describe(value)}")
        if written.offset is None:
            return self._in_zone(zone, local, value)
        instant = local - written.offset
        # Z and -00:00 say that the local offset is not known, so they agree with every zone (RFC 9557, section 3.4).
        if not written.vague and instant_zone.offset_at(zone, instant) != written.offset:
            return _disagrees(value)
        return instant

    def _in_zone(self, zone: ZoneInfo, local: int, value: object) -> int | Refusal:
        found = instant_zone.readings(zone, local)
        if len(found) == 1:
            return found[0]
        if not found:
            if self._shift:
                return instant_zone.before_gap(zone, local)
            return Refusal(
                "instant.gap",
                f"a local time that a clock change skips; expected one that exists, got {describe(value)}",
            )
        if self._fold is None:
            return Refusal(
                "instant.fold",
                f"a local time that occurs twice; expected an offset or a declared fold, got {describe(value)}",
            )
        return found[0] if self._fold == "earlier" else found[-1]


def _disagrees(value: object) -> Refusal:
    return Refusal("instant.zone", f"offset and zone disagree; expected the zone's own offset, got {describe(value)}")


def _ends_month(instant: int) -> bool:
    days, rest = divmod(instant, _DAY)
    year, month, day = _civil(days)
    return rest == _DAY - 1 and day == days_in_month(year, month)


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 of a proleptic Gregorian date. Any year: datetime ends where offsets can still cross."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _civil(days: int) -> tuple[int, int, int]:
    """The inverse of ``_days``. March starts the year here, so that the leap day is its last day."""
    era, of_era = divmod(days + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    day = of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + (3 if shifted < 10 else -9)
    return year_of_era + era * 400 + (month <= 2), month, day


def _choice(option: str, value: str | None, *choices: str) -> str | None:
    if value is None or value == "reject":
        return None
    if value not in choices:
        raise OptionError(option, f"not a choice; expected {' or '.join(choices)}")
    return value


def _zone_option(name: str | None) -> ZoneInfo | None:
    if name is None:
        return None
    zone = instant_zone.load(name) if isinstance(name, str) else None
    if zone is None:
        raise OptionError("zone", f"no zone of this name in tzdata {instant_zone.data_version()}")
    return zone


def _bound(option: str, value: str | None) -> str | None:
    if value is None:
        return None
    result = normalizer()(value)
    if isinstance(result, Refusal):
        raise OptionError(option, "not a moment; expected RFC 3339")
    return result
