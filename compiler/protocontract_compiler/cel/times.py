"""Constant timestamps and durations written as text, in the forms whose meaning is beyond doubt.

The engine of protovalidate reads more (one-digit months, leap seconds, fractions of a nanosecond); a contract that uses
those is evaluated there.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

from protocontract_compiler.cel.errors import Untranslatable
from protocontract_compiler.ir_cel import DURATION, TIMESTAMP, Expr, Literal

_SECOND: Final = 1_000_000_000
_MIN_SECONDS: Final = -62_135_596_800
_MAX_SECONDS: Final = 253_402_300_799
_MAX_DURATION: Final = 315_576_000_000 * _SECOND
_RFC_3339: Final = re.compile(
    r"(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))", re.ASCII
)
_PART: Final = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|ms|s|m|h)", re.ASCII)
_UNITS: Final = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": _SECOND,
    "m": 60 * _SECOND,
    "h": 3_600 * _SECOND,
}


def constant(op: str, text: Expr) -> Literal:
    """The value of ``timestamp(text)`` or ``duration(text)``. Raises ``Untranslatable`` unless text is a constant."""
    if not isinstance(text, Literal) or not isinstance(text.value, str):
        raise Untranslatable("a time read from a text that is not constant")
    if op == "timestamp_of_string":
        return Literal(TIMESTAMP, _timestamp(text.value))
    return Literal(DURATION, _duration(text.value))


def _timestamp(text: str) -> int:
    match = _RFC_3339.fullmatch(text)
    if match is None:
        raise Untranslatable("a timestamp in an unusual form")
    date, time, fraction, sign, hours, minutes = match.groups()
    try:
        civil = datetime.fromisoformat(f"{date}T{time}+00:00")
    except ValueError:
        raise Untranslatable("a timestamp that is no civil time") from None
    days = civil.toordinal() - datetime(1970, 1, 1, tzinfo=UTC).toordinal()
    seconds = days * 86_400 + civil.hour * 3_600 + civil.minute * 60 + civil.second
    if sign:
        if int(hours) > 23 or int(minutes) > 59:
            raise Untranslatable("a timestamp with an unusual offset")
        offset = int(hours) * 3_600 + int(minutes) * 60
        seconds -= offset if sign == "+" else -offset
    if not _MIN_SECONDS <= seconds <= _MAX_SECONDS:
        raise Untranslatable("a timestamp outside the years 1 to 9999")
    return seconds * _SECOND + int((fraction or "").ljust(9, "0"))


def _duration(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return 0
    total = position = 0
    while position < len(rest):
        match = _PART.match(rest, position)
        if match is None:
            raise Untranslatable("a duration in an unusual form")
        whole, _, fraction = match[1].partition(".")
        if len(whole) > 18 or len(fraction) > 18:
            raise Untranslatable("a duration with very many digits")
        unit = _UNITS[match[2]]
        nanos, remainder = divmod(int(fraction or "0") * unit, 10 ** len(fraction))
        if remainder:
            raise Untranslatable("a duration with a fraction of a nanosecond")
        total += int(whole or "0") * unit + nanos
        position = match.end()
    if not rest or total > _MAX_DURATION:
        raise Untranslatable("a duration in an unusual form or out of range")
    return sign * total
