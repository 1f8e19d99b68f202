"""Characters of numbers: what is folded before a number is read, digits of every script, and Chinese numerals.

Shared by ``money`` and ``quantity``. Unicode data come from ``unicodedata2`` (pinned), imported only for text that is
not ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

# Unicode White_Space (PropList.txt): str.strip() would also take U+001C to U+001F, which are controls.
WHITE_SPACE: Final = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f"
    "\u205f\u3000"
)
# Spaces that may stand between groups of digits, beside the plain one; they are folded to it.
_GROUP_SPACES: Final = "\xa0\u202f\u2009\u2007\u3000"
# All other white space is folded to this one, which separates but never groups.
GAP: Final = "\u2003"
BIDI_MARKS: Final = "\u200e\u200f\u061c"

CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def _fold_table() -> dict[int, str]:
    table = {0xFF01 + offset: chr(0x21 + offset) for offset in range(0x5E)}
    table |= {0xFFE0: "¢", 0xFFE1: "£", 0xFFE5: "¥", 0xFFE6: "₩"}
    table |= {ord(minus): "-" for minus in "\u2212\ufe63\uff0d"}
    table |= {ord(space): GAP for space in WHITE_SPACE if space not in "\t\n\x0b\x0c\r\x85 "}
    table |= {ord(space): " " for space in _GROUP_SPACES}
    table[0x2019] = "'"
    return table


_FOLD: Final = _fold_table()


class Folded(NamedTuple):
    """A text whose characters are folded one by one, so that every index fits the original too.

    ``zeros`` tells the script of every digit that is not ASCII, by the code point of that script's zero. ``odd`` is
    true where a character has a numeric value and is no digit of a number: a superscript, a fraction, a circled or
    Roman numeral.
    """

    text: str
    zeros: dict[int, int]
    odd: bool

    def zero_of(self, start: int, end: int) -> int | None:
        """The zero of the one script that the digits in [start, end) belong to; None where there are several."""
        if not self.zeros:
            return 0x30
        found = {self.zeros.get(at, 0x30) for at in range(start, end) if "0" <= self.text[at] <= "9"}
        return found.pop() if len(found) == 1 else None


def fold(text: str) -> Folded:
    """Full-width forms, minus signs, spaces, apostrophes and the digits of all scripts as their ASCII characters."""
    if text.isascii():
        return Folded(text, {}, odd=False)
    from unicodedata2 import category, decimal

    text = text.translate(_FOLD)
    zeros: dict[int, int] = {}
    odd = False
    characters: list[str] = []
    for at, character in enumerate(text):
        if character > "\x7f":
            kind = category(character)
            if kind == "Nd":
                digit = decimal(character)
                zeros[at] = ord(character) - digit
                character = chr(0x30 + digit)
            elif kind in {"No", "Nl"} and character != "〇":
                odd = True
        characters.append(character)
    return Folded("".join(characters), zeros, odd)


class Number(NamedTuple):
    """An exact decimal number: ``units / 10**scale``. ``scale`` counts the fraction digits as written."""

    units: int
    scale: int

    def shifted(self, places: int) -> Number:
        """This number times 10**places."""
        scale = self.scale - places
        return Number(self.units * 10**-scale, 0) if scale < 0 else Number(self.units, scale)

    def text(self, *, negative: bool = False) -> str:
        """Plain notation: no exponent, no grouping, no superfluous leading zeros."""
        digits = str(self.units).zfill(self.scale + 1)
        if self.scale:
            digits = f"{digits[: -self.scale]}.{digits[-self.scale :]}"
        return f"-{digits}" if negative and self.units else digits


# ----------------------------------------------------------------------------------------------------------------------
# Chinese numerals: plain, banker's and traditional forms, Japan's banker's forms, and Korea's units

_DIGITS: Final = {
    **dict.fromkeys("零〇", 0),
    **dict.fromkeys("一壹弌壱", 1),
    **dict.fromkeys("二贰貳弍弐两兩", 2),
    **dict.fromkeys("三叁參叄参弎", 3),
    **dict.fromkeys("四肆", 4),
    **dict.fromkeys("五伍", 5),
    **dict.fromkeys("六陆陸", 6),
    **dict.fromkeys("七柒", 7),
    **dict.fromkeys("八捌", 8),
    **dict.fromkeys("九玖", 9),
}
_UNITS: Final = {
    **dict.fromkeys("十拾", 1),
    **dict.fromkeys("百佰", 2),
    **dict.fromkeys("千仟천", 3),
    **dict.fromkeys("万萬만", 4),
    **dict.fromkeys("亿億억", 8),
    **dict.fromkeys("兆조", 12),
}
CJK_DIGITS: Final = "".join(_DIGITS)
CJK_UNITS: Final = "".join(_UNITS)
CJK_POINTS: Final = "点點"
# A trailing run of units that multiplies what stands before it: 百万, 千万, 万亿, but not 万千.
_PRODUCT: Final = re.compile("[123]?(4)?[8C]?")

Element: TypeAlias = Number | str

# No number in use comes near; bounds the recursion, and the size of numbers, in texts of any length.
_MOST_ELEMENTS: Final = 60


def cjk_number(elements: Sequence[Element]) -> Number | None:
    """The value of a run of Chinese numerals and of numbers in digits that stand between them (3千5百, 4.287亿).

    None where the run is not well formed, or colloquial: 一万五 may be meant as 15,000.
    """
    if len(elements) > _MOST_ELEMENTS:
        return None
    for at, element in enumerate(elements):
        if isinstance(element, str) and element in CJK_POINTS:
            return _with_point(elements[:at], elements[at + 1 :])
    first = elements[0]
    if isinstance(first, Number):
        places = _product(elements[1:])
        if places is not None:
            return first.shifted(places)
        if first.scale:
            return None
    value = _integer(elements)
    return None if value is None else Number(value, 0)


def _with_point(before: Sequence[Element], after: Sequence[Element]) -> Number | None:
    if not before or not after or not all(isinstance(element, str) for element in (*before, *after)):
        return None
    whole = _integer(before)
    digits = ""
    for at, element in enumerate(after):
        if str(element) not in _DIGITS or element in ("两", "兩"):
            places = _product(after[at:])
            break
        digits += str(_DIGITS[str(element)])
    else:
        places = 0
    if whole is None or places is None or not digits:
        return None
    return Number(whole * 10 ** len(digits) + int(digits), len(digits)).shifted(places)


def _product(elements: Sequence[Element]) -> int | None:
    if not elements or not all(isinstance(element, str) and element in _UNITS for element in elements):
        return None
    exponents = [_UNITS[str(element)] for element in elements]
    return sum(exponents) if _PRODUCT.fullmatch("".join(f"{exponent:X}" for exponent in exponents)) else None


def _integer(elements: Sequence[Element]) -> int | None:
    """Everything below 10**16: split at the highest unit, then what stands before and after it."""
    if not elements:
        return None
    for exponent in (12, 8, 4):
        for at in range(len(elements) - 1, -1, -1):
            element = elements[at]
            if isinstance(element, str) and _UNITS.get(element) == exponent:
                left = _integer(elements[:at])
                right = _rest(elements[at + 1 :], exponent)
                if not left or left >= 10 ** min(exponent, 8) or right is None:
                    return None
                value: int = left * 10**exponent + right
                return value
    return _section(elements)


def _rest(elements: Sequence[Element], exponent: int) -> int | None:
    """What follows a unit: smaller than it, and no bare digit without 零 before it (一万五)."""
    if not elements:
        return 0
    zero = isinstance(elements[0], str) and elements[0] in "零〇"
    value = _integer(elements[1:] if zero and len(elements) > 1 else elements)
    if value is None or value >= 10**exponent or (value < 10 and not zero and len(elements) == 1):
        return None
    return value


def _section(elements: Sequence[Element]) -> int | None:
    """A number below 10,000, or digits written one after the other (二〇五)."""
    if len(elements) == 1 and isinstance(elements[0], Number):
        return None if elements[0].scale else elements[0].units
    if all(isinstance(element, str) and element in _DIGITS for element in elements):
        if len(elements) > 1 and ("两" in elements or "兩" in elements):
            return None
        if len(elements) == 2 and all(_DIGITS[str(element)] for element in elements):
            return None  # 七八, 三五: seven or eight, three to five
        return int("".join(str(_DIGITS[str(element)]) for element in elements))
    total: int = 0
    zero, last = False, 4
    pending: int | None = None
    for element in elements:
        if isinstance(element, Number):
            if pending is not None or element.scale or not 0 < element.units < 10:
                return None
            pending = element.units
        elif element in _DIGITS:
            if pending is not None or (zero and not _DIGITS[element]):
                return None
            if _DIGITS[element]:
                pending = _DIGITS[element]
            else:
                zero = True
        else:
            exponent = _UNITS[element]
            if exponent >= last or (pending is None and exponent != 1):
                return None
            total += (1 if pending is None else pending) * 10**exponent
            pending, zero, last = None, False, exponent
    if pending is None:
        return None if zero and total else total
    if last != 1 and not zero:
        return None
    return total + pending
