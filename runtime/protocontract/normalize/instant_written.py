"""What reading a date and time gives: numbers as they were written.

Apart from the reader, whose patterns take longer to compile than many programs need them for: a clean moment is read
without them.
"""

from __future__ import annotations

from calendar import monthrange
from typing import Final

from protocontract.violations import Refusal, describe

WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""The Unicode property White_Space. ``str.strip`` without arguments takes U+001C to U+001F too, which are controls."""


class Written:
    """A date and time as written: nothing is converted, and only the calendar date is known to exist.

    ``hour`` is None for a date alone. ``offset`` is in seconds east of UTC, None where none is written;
    ``zone`` is the zone of an RFC 9557 suffix. ``vague`` marks Z and -00:00, which state no local offset.
    """

    __slots__ = (
        "day",
        "fraction",
        "hour",
        "minute",
        "month",
        "offset",
        "second",
        "vague",
        "year",
        "zone",
        "zone_offset",
    )

    def __init__(self, year: int, month: int, day: int) -> None:
        self.year: Final = year
        self.month: Final = month
        self.day: Final = day
        self.hour: int | None = None
        self.minute = 0
        self.second = 0
        self.fraction = ""
        self.offset: int | None = None
        self.vague = False
        self.zone: str | None = None
        self.zone_offset: int | None = None


class Epoch:
    """A bare number: digits before and after the point, as written."""

    __slots__ = ("fraction", "negative", "whole")

    def __init__(self, negative: bool, whole: str, fraction: str) -> None:
        self.negative: Final = negative
        self.whole: Final = whole
        self.fraction: Final = fraction


def syntax(what: str, value: object) -> Refusal:
    """A refusal of the form: ``instant.syntax``."""
    return Refusal("instant.syntax", f"{what}, got {describe(value)}")


def days_in_month(year: int, month: int) -> int:
    """Days of a month of the proleptic Gregorian calendar; year 0 is a leap year."""
    return monthrange(year or 400, month)[1]
