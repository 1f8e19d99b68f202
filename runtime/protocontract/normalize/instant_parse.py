"""The written forms of a date and time, read into numbers. No zone data and no calendar policy here.

Forms: RFC 3339 and ISO 8601 (extended, and basic with T), RFC 2822, HTTP, asctime, JavaScript's toString, numeric dates
in any order, English month names, Chinese and Japanese dates. Each pattern is anchored and without nested repetition,
so reading is linear in the length of the text.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from protocontract.normalize.instant_written import WHITE_SPACE, Epoch, Written, days_in_month, syntax
from protocontract.violations import Refusal, describe

_MAX_LENGTH: Final = 512  # no written date is longer; what is longer is refused before any pattern runs
_W: Final = f"[{WHITE_SPACE}]"
_FOLD: Final = {0xFF10 + digit: 0x30 + digit for digit in range(10)} | {0xFF1A: 0x3A}

_SHORT_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_LONG_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LONG_MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_DAY_NAMES: Final = {name: at for names in (_SHORT_DAYS, _LONG_DAYS) for at, name in enumerate(names)} | {
    "tues": 1,
    "thur": 3,
    "thurs": 3,
}
_MONTH_NAMES: Final = (
    {name: at for at, name in enumerate(_LONG_MONTHS, 1)}
    | {name[:3]: at for at, name in enumerate(_LONG_MONTHS, 1)}
    | {"sept": 9}
)
_CJK_DAYS: Final = {
    character: at
    for days in ("一二三四五六日", "月火水木金土日", "      天")
    for at, character in enumerate(days)
    if character != " "
}

# Within ASCII: elsewhere there are letters (U+017F, U+0131) that Unicode takes for an s or i, and no month has.
_ANY_CASE: Final = re.IGNORECASE | re.ASCII
_DAY: Final = rf"(?:{'|'.join(sorted(_DAY_NAMES, key=len, reverse=True))})(?![A-Za-z])"
_MONTH: Final = rf"({'|'.join(sorted(_MONTH_NAMES, key=len, reverse=True))})\.?(?![A-Za-z])"

_NUMBER: Final = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]+))?", re.ASCII)
_EN_DAY: Final = re.compile(rf"({_DAY})(?:\.?,{_W}*|\.?{_W}+)", _ANY_CASE)
_CJK_DAY: Final = re.compile(
    rf"{_W}*(?:[(（](?:星期|周|週|礼拜|禮拜)?([一二三四五六日天月火水木金土])(?:曜日?)?[)）]"
    rf"|(?:星期|周|週|礼拜|禮拜)([一二三四五六日天])|([月火水木金土日])曜日?)"
)
_YMD: Final = re.compile(
    rf"([0-9]{{4}})(?:([-/.])([0-9]{{1,2}})\2([0-9]{{1,2}})|{_W}+([0-9]{{1,2}}){_W}+([0-9]{{1,2}}))(?![0-9])"
)
_NUMERIC: Final = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]+)")
_BASIC: Final = re.compile(
    r"([0-9]{4})([0-9]{2})([0-9]{2})[Tt]([0-9]{2})([0-9]{2})(?:([0-9]{2})(?:[.,]([0-9]+))?)?(?![0-9:.,])"
)
_CJK_DATE: Final = re.compile(rf"([0-9]+){_W}*年{_W}*([0-9]{{1,2}}){_W}*月{_W}*([0-9]{{1,2}}){_W}*[日号號]")
_DAY_MONTH: Final = re.compile(rf"([0-9]{{1,2}})(?:-{_MONTH}-|{_W}+{_MONTH},?{_W}+)([0-9]+)(?![0-9])", _ANY_CASE)
_MONTH_DAY: Final = re.compile(rf"{_MONTH}{_W}+([0-9]{{1,2}})(?![0-9])(?:,?{_W}+([0-9]+)(?![0-9:]))?", _ANY_CASE)
_TRAILING_YEAR: Final = re.compile(rf"{_W}+([0-9]+)$")

_GAP: Final = re.compile(rf"[Tt]|,?{_W}+")
_DAY_PART: Final = re.compile(rf"{_W}*(上午|下午|凌晨|中午|晚上|晚|午前|午後){_W}*")
_CLOCK: Final = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?(?![0-9:.,])")
_CJK_CLOCK: Final = re.compile(
    rf"([0-9]{{1,2}}){_W}*[时時点點](?:{_W}*([0-9]{{1,2}})(?:{_W}*分(?:{_W}*([0-9]{{1,2}}){_W}*秒)?)?)?(?![0-9:.,])"
)
_AM_PM: Final = re.compile(rf"{_W}*([AaPp])(?:[Mm]|\.[Mm]\.)(?![A-Za-z])")

_SIGN: Final = "[+\\-\u2212]"
_Z: Final = re.compile(rf"{_W}*[Zz](?![A-Za-z])")
_OFFSET: Final = re.compile(rf"{_W}*({_SIGN})([0-9]{{2}})(?::?([0-9]{{2}}))?(?![0-9:])")
_UTC: Final = re.compile(
    rf"{_W}*(?:UTC|GMT|UT)(?![A-Za-z])"
    rf"(?:({_SIGN})(?:([0-9]{{1,2}})(?::([0-9]{{2}}))?|([0-9]{{2}})([0-9]{{2}}))(?![0-9:]))?",
    _ANY_CASE,
)
_ABBREVIATION: Final = re.compile(rf"(?:{_W}+[A-Za-z]{{1,5}}|[A-Y]{{1,5}})(?={_W}*(?:$|[\[(]))")
_SUFFIX: Final = re.compile(r"\[(!?)([^\[\]=]+)(?:=([A-Za-z0-9-]+))?\]")
_COMMENT: Final = re.compile(rf"{_W}*\((?:[^()]++|\([^()]*+\))*+\)")  # comments may nest (RFC 5322); once is enough
_TIME_ONLY: Final = re.compile(r"[0-9]{1,2}:[0-9]{2}(?![0-9])")
_ERA: Final = re.compile("民國|民国|明治|大正|昭和|平成|令和")


def read(text: str, order: str | None) -> Written | Epoch | Refusal:
    """Read a date and time. ``order`` is "DMY", "MDY" or None; it never turns a year-first date around."""
    trimmed = text.strip(WHITE_SPACE)
    if not trimmed:
        return syntax("empty; expected a date and time", text)
    if len(trimmed) > _MAX_LENGTH:
        return syntax("not a date; expected a date and time", text)
    folded = trimmed.translate(_FOLD)
    number = _NUMBER.fullmatch(folded.replace("\u2212", "-", 1) if folded[0] == "\u2212" else folded)
    if number is not None:
        sign, whole, fraction = number.groups()
        return Epoch(sign == "-", whole, fraction or "")
    return _Reader(folded, text).run(order)


class _Stop(Exception):
    """Reading ends with a refusal. Control flow of this module: never leaves it."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


class _Reader:
    """One pass over one text."""

    def __init__(self, text: str, raw: str) -> None:
        self.text = text
        self.raw = raw
        self.at = 0

    def run(self, order: str | None) -> Written | Refusal:
        try:
            return self._date_time(order)
        except _Stop as stop:
            return stop.refusal

    def _fail(self, what: str, rule_id: str = "instant.syntax") -> _Stop:
        return _Stop(Refusal(rule_id, f"{what}, got {describe(self.raw)}"))

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    # -- dates

    def _date_time(self, order: str | None) -> Written:
        weekday = self._leading_weekday()
        basic = self._take(_BASIC)
        if basic is not None:
            year, month, day, hour, minute, second, fraction = basic.groups()
            written = self._date(year, month, day)
            self._set_time(written, hour, minute, second, fraction)
        else:
            written, weekday = self._separated(order, weekday)
        if weekday is not None and date(written.year or 400, written.month, written.day).weekday() != weekday:
            raise self._fail("the weekday is another day's; expected the date's own")
        self._zone(written)
        if self.at != len(self.text):
            raise self._fail("not a date and time that is known; expected for example RFC 3339")
        return written

    def _leading_weekday(self) -> int | None:
        english = self._take(_EN_DAY)
        if english is not None:
            return _DAY_NAMES[english[1].lower()]
        chinese = self._take(_CJK_DAY)
        if chinese is None:
            return None
        self.at += len(self.text) - self.at - len(self.text[self.at :].lstrip(WHITE_SPACE + ",，"))
        return _CJK_DAYS[next(filter(None, chinese.groups()))]

    def _separated(self, order: str | None, weekday: int | None) -> tuple[Written, int | None]:
        """A date and, after a gap, a time. asctime puts the year behind the time."""
        spread = self._take(_MONTH_DAY)
        if spread is not None and spread[3] is None:
            return self._asctime(spread[1], spread[2]), weekday
        if spread is not None:
            written = self._date(self._year(spread[3]), str(_MONTH_NAMES[spread[1].lower()]), spread[2])
            attached = False
        else:
            written, attached = self._plain_date(order)
        after = self._take(_CJK_DAY)
        if after is not None:
            second = _CJK_DAYS[next(filter(None, after.groups()))]
            if weekday is not None and weekday != second:
                raise self._fail("two weekdays that differ; expected one")
            weekday = second
        self._time(written, attached or after is not None)
        return written, weekday

    def _plain_date(self, order: str | None) -> tuple[Written, bool]:
        """The date, and whether a time may follow it without a gap."""
        found = self._take(_YMD)
        if found is not None:
            year, _, month, day, spaced_month, spaced_day = found.groups()
            return self._date(year, month or spaced_month, day or spaced_day), False
        found = self._take(_CJK_DATE)
        if found is not None:
            return self._date(self._year(found[1]), found[2], found[3]), True
        found = self._take(_NUMERIC)
        if found is not None:
            return self._ordered(int(found[1]), int(found[3]), self._year(found[4]), order), False
        found = self._take(_DAY_MONTH)
        if found is not None:
            month = str(_MONTH_NAMES[(found[2] or found[3]).lower()])
            return self._date(self._year(found[4]), month, found[1]), False
        if _TIME_ONLY.match(self.text, self.at):
            raise self._fail("a time without a date; expected both")
        if _ERA.search(self.text):
            raise self._fail("a year of another calendar; expected the Gregorian year")
        raise self._fail("not a date; expected a date and time")

    def _year(self, digits: str) -> str:
        if len(digits) != 4:
            raise self._fail("a year that does not have four digits; expected four")
        return digits

    def _ordered(self, first: int, second: int, year: str, order: str | None) -> Written:
        if order == "DMY":
            return self._date(year, str(second), str(first))
        if order == "MDY":
            return self._date(year, str(first), str(second))
        if first <= 12 and second <= 12 and first != second:
            raise self._fail("day and month can be read in two orders; expected a declared order", "instant.ambiguous")
        if first > 12:
            return self._date(year, str(second), str(first))
        return self._date(year, str(first), str(second))

    def _date(self, year: str, month: str, day: str) -> Written:
        written = Written(int(year), int(month), int(day))
        if not 1 <= written.month <= 12 or not 1 <= written.day <= days_in_month(written.year, written.month):
            raise self._fail("a date that the calendar does not have; expected one that exists")
        return written

    def _asctime(self, month: str, day: str) -> Written:
        """``Nov  6 08:49:37 1994``, with a zone before the year where date(1) wrote it."""
        tail = _TRAILING_YEAR.search(self.text, self.at)
        if tail is None:
            raise self._fail("a date without a year; expected one")
        written = self._date(self._year(tail[1]), str(_MONTH_NAMES[month.lower()]), day)
        self.text = self.text[: tail.start()]
        self._time(written, attached=False)
        if written.hour is None:
            raise self._fail("not a date and time that is known; expected for example RFC 3339")
        return written

    # -- times

    def _time(self, written: Written, attached: bool) -> None:
        """The time, if there is one: after a gap, a word for the part of the day, or a date that ends in a word."""
        start = self.at
        part = self._take(_DAY_PART)
        if part is None and self._take(_GAP) is None and not attached:
            return
        if part is None:
            part = self._take(_DAY_PART)
        colons = self._take(_CLOCK)
        found = colons or self._take(_CJK_CLOCK)
        if found is None:
            self.at = start  # a date alone; a zone may follow
            return
        half = self._take(_AM_PM) if colons is not None else None
        hour = found[1]
        if half is not None:
            if part is not None:
                raise self._fail("two words for the part of the day; expected one")
            hour = self._half_day(int(hour), half[1].lower())
        elif part is not None:
            hour = self._part_of_day(int(hour), part[1])
        self._set_time(written, hour, found[2] or "0", found[3], colons[4] if colons is not None else None)

    def _half_day(self, hour: int, half: str) -> str:
        if not 1 <= hour <= 12:
            raise self._fail("an hour that no half of the day has; expected 1 to 12")
        return str(hour % 12 + (12 if half == "p" else 0))

    def _part_of_day(self, hour: int, part: str) -> str:
        """上午 and 下午 as CLDR prints them (12 to 11), 午前 and 午後 from 0, the others by what they can mean."""
        if part in ("上午", "下午"):
            return self._half_day(hour, "a" if part == "上午" else "p")
        if part in ("午前", "午後"):
            allowed, shift = range(12), 0 if part == "午前" else 12
        elif part == "凌晨":
            allowed, shift = range(7), 0
            hour = 0 if hour == 12 else hour
        elif part == "中午":
            allowed, shift = range(10, 16), 0
            hour = hour + 12 if 1 <= hour <= 3 else hour
        else:
            # Midnight "in the evening" belongs to no one day, so 12 is not among them.
            allowed, shift = range(5, 12), 12
        if hour not in allowed:
            raise self._fail("an hour that this part of the day does not have; expected one that it has")
        return str(hour + shift)

    def _set_time(self, written: Written, hour: str, minute: str, second: str | None, fraction: str | None) -> None:
        written.hour = int(hour)
        written.minute = int(minute)
        written.second = int(second or "0")
        written.fraction = fraction or ""
        if written.hour > 24 or written.minute > 59 or written.second > 60:
            raise self._fail("a time that no clock shows; expected hour, minute and second in their ranges")
        if written.hour == 24 and (written.minute or written.second or written.fraction.strip("0")):
            raise self._fail("a time past 24:00; expected one that exists")

    # -- zones

    def _zone(self, written: Written) -> None:
        zoned = self._offset(written)
        if zoned and (
            _Z.match(self.text, self.at) or _OFFSET.match(self.text, self.at) or _UTC.match(self.text, self.at)
        ):
            raise self._fail("two zones; expected one", "instant.zone")
        while (suffix := self._take(_SUFFIX)) is not None:
            self._suffix(written, *suffix.groups())
        if zoned:
            self._take(_COMMENT)
        elif _ABBREVIATION.match(self.text, self.at):
            raise self._fail("a zone abbreviation, which several zones share; expected an offset", "instant.zone")

    def _offset(self, written: Written) -> bool:
        if self._take(_Z) is not None:
            written.offset, written.vague = 0, True
            return True
        plain = self._take(_OFFSET)
        if plain is not None:
            written.offset = self._offset_seconds(*plain.groups())
            written.vague = written.offset == 0 and plain[1] != "+"
            return True
        named = self._take(_UTC)
        if named is not None:
            sign, hours, minutes, hours4, minutes4 = named.groups()
            written.offset = 0 if sign is None else self._offset_seconds(sign, hours or hours4, minutes or minutes4)
            written.vague = sign is None
            return True
        return False

    def _offset_seconds(self, sign: str, hours: str, minutes: str | None) -> int:
        if int(hours) > 23 or int(minutes or "0") > 59:
            raise self._fail("an offset that is too large; expected at most 23:59", "instant.zone")
        seconds = int(hours) * 3600 + int(minutes or "0") * 60
        return seconds if sign == "+" else -seconds

    def _suffix(self, written: Written, critical: str, name: str, value: str | None) -> None:
        if value is not None:
            if critical:
                raise self._fail("a critical suffix that is not known; expected none", "instant.zone")
            return
        if written.zone is not None or written.zone_offset is not None:
            raise self._fail("two zone suffixes; expected one", "instant.zone")
        offset = _OFFSET.fullmatch(name)
        if offset is not None:
            written.zone_offset = self._offset_seconds(*offset.groups())
        else:
            written.zone = name
