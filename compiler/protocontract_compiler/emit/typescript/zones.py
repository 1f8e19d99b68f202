"""The zone data of generated TypeScript, made of the tzdata package that the Python runtime reads.

One line a zone: its names | its offsets | each transition | the yearly rule for all that follows. A transition is its
distance from the one before and a capital letter, which says whose offset holds from it on: A is the first one, which
holds before all transitions as well. Numbers are of base 36 and seconds; a distance is in quarters of an hour, or in
seconds behind a plus.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from protocontract.normalize import instant_zone

_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_NAME: Final = r"(?:<[^>]+>|[A-Za-z]+)"
_TIME: Final = r"[+-]?\d+(?::\d+){0,2}"
_CHANGE: Final = rf"M(\d+)\.(\d+)\.(\d+)(?:/({_TIME}))?"
# A footer of RFC 8536 with a rule; one without holds no more than the last offset.
_RULE: Final = re.compile(rf"{_NAME}({_TIME}){_NAME}({_TIME})?,{_CHANGE},{_CHANGE}")
_HEADER: Final = struct.Struct(">4sc15x6l")


@dataclass(frozen=True, slots=True)
class _Zone:
    first: int
    transitions: tuple[tuple[int, int], ...]
    rule: tuple[int, ...]
    """Standard and summer offset; month, week, day of the week and second of the begin and of the end of summer."""


@lru_cache(maxsize=1)
def source() -> str:
    """The text of the helper module ``normalize/data/zones``."""
    names: dict[_Zone, list[str]] = {}
    for name in sorted(instant_zone.names()):
        names.setdefault(_zone(name), []).append(name)
    lines = ";\n".join(f"{' '.join(own)}|{_packed(zone)}" for zone, own in names.items()).split("\n")
    return (
        f"// Time zones of the IANA release {instant_zone.data_version()}: names | offsets | transitions | rule.\n\n"
        "export const ZONES =\n" + " +\n".join(f'  "{line}"' for line in lines) + ";\n"
    )


def _packed(zone: _Zone) -> str:
    offsets = list(dict.fromkeys((zone.first, *(offset for _, offset in zone.transitions))))
    history = ""
    last = 0
    for time, offset in zone.transitions:
        quarters, rest = divmod(time - last, 900)
        history += (f"+{_number(time - last)}" if rest else _number(quarters)) + chr(ord("A") + offsets.index(offset))
        last = time
    return "|".join([",".join(map(_number, offsets)), history, ",".join(map(_number, zone.rule))])


def _number(value: int) -> str:
    sign, value = "-" if value < 0 else "", abs(value)
    text = _DIGITS[value % 36]
    while value := value // 36:
        text = _DIGITS[value % 36] + text
    return sign + text


def _zone(name: str) -> _Zone:
    zone = instant_zone.load(name)
    assert zone is not None
    times, footer = _times_and_footer(instant_zone.data(f"zoneinfo/{name}"))
    first = instant_zone.offset_at(zone, instant_zone.FIRST_SECOND)
    transitions: list[tuple[int, int]] = []
    offset = first
    for time in times:
        new = instant_zone.offset_at(zone, time)
        # The last one stays whatever it changes: the rule holds behind it.
        if new != offset or time == times[-1]:
            transitions.append((time, new))
            offset = new
    return _Zone(first, tuple(transitions), _rule(footer))


def _times_and_footer(data: bytes) -> tuple[tuple[int, ...], str]:
    """The transitions and the footer of a file of RFC 8536, from its second, 64-bit block."""
    _, _, isutc, isstd, leaps, times, types, letters = _HEADER.unpack_from(data)
    at = _HEADER.size + times * 5 + types * 6 + letters + leaps * 8 + isstd + isutc
    _, _, isutc, isstd, leaps, times, types, letters = _HEADER.unpack_from(data, at)
    at += _HEADER.size
    footer = at + times * 9 + types * 6 + letters + leaps * 12 + isstd + isutc
    return struct.unpack_from(f">{times}q", data, at), data[footer:].strip(b"\n").decode()


def _rule(footer: str) -> tuple[int, ...]:
    """The numbers of a footer; none where it has no rule. Raises ValueError for a form that no zone has today."""
    if "," not in footer:
        return ()
    found = _RULE.fullmatch(footer)
    if found is None:
        raise ValueError("a time zone's rule of another form; expected months, weeks and days of the week")
    standard, summer, *changes = found.groups()
    own = -_seconds(standard)  # a footer counts west of UTC
    numbers = [own, own + 3600 if summer is None else -_seconds(summer)]
    for month, week, day, time in (changes[:4], changes[4:]):
        numbers += [int(month), int(week), int(day), _seconds(time or "2")]
    return tuple(numbers)


def _seconds(text: str) -> int:
    hours, minutes, seconds = [*map(int, text.lstrip("+-").split(":")), 0, 0][:3]
    total = hours * 3600 + minutes * 60 + seconds
    return -total if text.startswith("-") else total
