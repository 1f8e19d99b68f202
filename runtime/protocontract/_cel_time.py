"""CEL's timestamps and durations for emitted code: both are ``int`` nanoseconds, exact and unbounded.

The engine of protovalidate 2.1 limits what arithmetic may return, not what a message may hold: durations to 64 bits of
nanoseconds (operands are clamped to that first), timestamps to the years 1 to 9999.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Protocol

from protocontract._cel_error import CelRuntimeError

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_SECOND: Final = 1_000_000_000
_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**63 - 1
_MIN_SECONDS: Final = -62_135_596_800
_MAX_SECONDS: Final = 253_402_300_799
_MAX_DURATION: Final = 315_576_000_000 * _SECOND + 999_999_999
_DAY: Final = 86_400
_ERA_DAYS: Final = 146_097
_ERA_SECONDS: Final = _ERA_DAYS * _DAY


class _SecondsNanos(Protocol):
    @property
    def seconds(self) -> int: ...
    @property
    def nanos(self) -> int: ...


def cel_nanos(message: _SecondsNanos) -> int:
    """The nanoseconds of a Timestamp or Duration message."""
    return message.seconds * _SECOND + message.nanos


def cel_duration_in_range(nanos: int) -> int:
    """A duration read from a message in CEL: one of more than about 10,000 years is an error."""
    if not -_MAX_DURATION <= nanos <= _MAX_DURATION:
        raise CelRuntimeError("duration out of range")
    return nanos


def _clamp(nanos: int) -> int:
    return min(max(nanos, _INT_MIN), _INT_MAX)


def _checked(nanos: int) -> int:
    if not _INT_MIN <= nanos <= _INT_MAX:
        raise CelRuntimeError("integer overflow")
    return nanos


def _truncated(value: int, unit: int) -> int:
    return value // unit if value >= 0 else -(-value // unit)


# ----------------------------------------------------------------------------------------------------------------------
# Arithmetic


def cel_add_duration(left: int, right: int) -> int:
    """``duration + duration``."""
    return _checked(_clamp(left) + _clamp(right))


def cel_sub_duration(left: int, right: int) -> int:
    """``duration - duration``."""
    return _checked(_clamp(left) - _clamp(right))


def cel_add_timestamp(instant: int, duration: int) -> int:
    """``timestamp + duration``."""
    result = instant + duration
    if not _MIN_SECONDS <= result // _SECOND <= _MAX_SECONDS:
        raise CelRuntimeError("timestamp overflow")
    return result


def cel_add_duration_timestamp(duration: int, instant: int) -> int:
    """``duration + timestamp``."""
    return cel_add_timestamp(instant, duration)


def cel_sub_timestamp(instant: int, duration: int) -> int:
    """``timestamp - duration``."""
    return cel_add_timestamp(instant, _checked(-_clamp(duration)))


def cel_sub_timestamps(left: int, right: int) -> int:
    """``timestamp - timestamp``."""
    seconds = left // _SECOND - right // _SECOND
    _checked(seconds * _SECOND)
    return _checked(left - right)


# ----------------------------------------------------------------------------------------------------------------------
# Conversions


def cel_timestamp_of_int(seconds: int) -> int:
    """``timestamp(int)``: seconds since the epoch."""
    if not _MIN_SECONDS <= seconds <= _MAX_SECONDS:
        raise CelRuntimeError("timestamp overflow")
    return seconds * _SECOND


def cel_int_of_timestamp(instant: int) -> int:
    """``int(timestamp)``: seconds since the epoch, rounded down."""
    return instant // _SECOND


def _fraction(nanos: int) -> str:
    if nanos % 1_000_000 == 0:
        return f"{nanos // 1_000_000:03}"
    if nanos % 1_000 == 0:
        return f"{nanos // 1_000:06}"
    return f"{nanos:09}"


def cel_string_of_duration(duration: int) -> str:
    """``string(duration)``: seconds with 0, 3, 6 or 9 digits after the point."""
    if not -_MAX_DURATION <= duration <= _MAX_DURATION:
        raise CelRuntimeError("duration out of range")
    seconds, nanos = divmod(abs(duration), _SECOND)
    fraction = f".{_fraction(nanos)}" if nanos else ""
    return f"{'-' if duration < 0 else ''}{seconds}{fraction}s"


def cel_string_of_timestamp(instant: int) -> str:
    """``string(timestamp)``: RFC 3339 in UTC with 0, 3, 6 or 9 digits after the point."""
    seconds, nanos = divmod(instant, _SECOND)
    if not _MIN_SECONDS <= seconds <= _MAX_SECONDS:
        raise CelRuntimeError("timestamp out of range")
    year, rest = _civil_text(seconds)
    fraction = f".{_fraction(nanos)}" if nanos else ""
    return f"{year:04}{rest}{fraction}Z"


def cel_display_timestamp(instant: int) -> str:
    """``'%s'.format([timestamp])``: the year as it is, the fraction as short as it is."""
    seconds, nanos = divmod(instant, _SECOND)
    year, rest = _civil_text(seconds)
    fraction = f".{nanos:09}".rstrip("0") if nanos else ""
    return f"{year}{rest}{fraction}Z"


def _civil_text(seconds: int) -> tuple[int, str]:
    days, second = divmod(seconds, _DAY)
    year, month, day = _civil(days)
    return year, f"-{month:02}-{day:02}T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


# ----------------------------------------------------------------------------------------------------------------------
# Parts


def cel_duration_hours(duration: int) -> int:
    """``duration.getHours()``: whole hours, truncated."""
    return _truncated(duration, 3600 * _SECOND)


def cel_duration_minutes(duration: int) -> int:
    """``duration.getMinutes()``: whole minutes, truncated."""
    return _truncated(duration, 60 * _SECOND)


def cel_duration_seconds(duration: int) -> int:
    """``duration.getSeconds()``: whole seconds, truncated."""
    return _truncated(duration, _SECOND)


def cel_duration_milliseconds(duration: int) -> int:
    """``duration.getMilliseconds()``: the milliseconds within the second, with the duration's sign."""
    millis = _truncated(duration, 1_000_000)
    return millis % 1000 if millis >= 0 else -(-millis % 1000)


def cel_timestamp_part(instant: int, part: str, zone: str) -> int:
    """A part of a timestamp's civil time in a zone: empty for UTC, ``+08:00``, or an IANA name."""
    seconds, nanos = divmod(instant, _SECOND)
    if part == "milliseconds":
        return nanos // 1_000_000
    days, second = divmod(seconds + _offset(seconds, zone), _DAY)
    match part:
        case "hours":
            return second // 3600
        case "minutes":
            return second // 60 % 60
        case "seconds":
            return second % 60
        case "day_of_week":
            return (days + 4) % 7
    year, month, day = _civil(days)
    match part:
        case "year":
            return year
        case "month":
            return month - 1
        case "date":
            return day
        case "day_of_month":
            return day - 1
        case _:  # day_of_year
            return days - _days(year, 1, 1)


def _load(name: str) -> ZoneInfo:
    """A zone of the tzdata package: what a contract means does not depend on the machine's own database."""
    # Imported on first use: few contracts name a zone.
    from importlib.resources import files
    from zoneinfo import ZoneInfo

    with files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo | int:
    hours, colon, minutes = name.partition(":")
    if not colon:
        return _load(name)
    offset = int(hours.lstrip("+-")) * 3600 + int(minutes) * 60
    return -offset if name.startswith("-") else offset


def _offset(seconds: int, name: str) -> int:
    """The offset from UTC in seconds; outside datetime's years the calendar repeats every 400 years."""
    if not name:
        return 0
    zone = _zone(name)
    if isinstance(zone, int):
        return zone
    if seconds < _MIN_SECONDS + 2 * _DAY:
        seconds = _MIN_SECONDS + 2 * _DAY  # long before any transition
    elif seconds > _MAX_SECONDS - 2 * _DAY:
        over = seconds - (_MAX_SECONDS - 2 * _DAY)
        seconds -= -(-over // _ERA_SECONDS) * _ERA_SECONDS
    offset = datetime.fromtimestamp(seconds, UTC).astimezone(zone).utcoffset()
    return 0 if offset is None else offset.days * _DAY + offset.seconds


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day since the epoch, in the proleptic Gregorian calendar (years may be 0 or less)."""
    era, day = divmod(days + 719_468, _ERA_DAYS)
    year = (day - day // 1460 + day // 36_524 - day // 146_096) // 365
    day -= 365 * year + year // 4 - year // 100
    shifted = (5 * day + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return 400 * era + year + (month <= 2), month, day - (153 * shifted + 2) // 5 + 1


def _days(year: int, month: int, day: int) -> int:
    """The day since the epoch: the inverse of ``_civil``."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * _ERA_DAYS + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468
