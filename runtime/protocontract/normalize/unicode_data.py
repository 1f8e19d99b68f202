"""Sets of characters that the normalizers speak of, each by its definition in the Unicode Character Database.

Sets that the Unicode stability policy or long practice keeps fixed are written out. Whatever grows with a version of
Unicode (decompositions, combining classes) is read from ``unicodedata2``, whose version is pinned, and never from the
interpreter, so that every Python gives the same result. The module is imported on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, Protocol, cast

if TYPE_CHECKING:
    from types import ModuleType

Form = Literal["NFC", "NFKC"]

# PropList.txt, White_Space. Not in it: U+200B, U+2060, U+FEFF, U+180E, and U+001C..001F, which str.isspace() adds.
WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

# The inside of regular expression classes: what stands between the brackets.
WHITE_SPACE_CLASS: Final = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
# General_Category Cc without White_Space (what strip_controls removes).
STRIPPED_CONTROL_CLASS: Final = r"\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
# Cc without TAB, LF and CR (what `reject: control` refuses).
REJECTED_CONTROL_CLASS: Final = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
# PropList.txt, Noncharacter_Code_Point: U+FDD0..FDEF and the last two of each of the seventeen planes.
NONCHARACTER_CLASS: Final = r"\ufdd0-\ufdef" + "".join(f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(17))
# PropList.txt, Bidi_Control.
BIDI_CONTROL_CLASS: Final = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# General_Category Co.
PRIVATE_USE_CLASS: Final = r"\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
SURROGATE_CLASS: Final = r"\ud800-\udfff"
TAG_CLASS: Final = r"\U000e0000-\U000e007f"
# A valid emoji tag sequence (UTS #51, annex C): the black flag, a CLDR subdivision (a region's two letters and up to
# four letters or digits) in tag characters, and the cancel tag.
FLAG_TAG_SEQUENCE: Final = r"\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"


class UnicodeData(Protocol):
    """The part of ``unicodedata2`` that is used here."""

    unidata_version: str

    def normalize(self, form: str, text: str, /) -> str: ...
    def combining(self, character: str, /) -> int: ...
    def decomposition(self, character: str, /) -> str: ...
    def category(self, character: str, /) -> str: ...
    def name(self, character: str, default: str, /) -> str: ...


@lru_cache(maxsize=1)
def unicode_data() -> UnicodeData:
    """The pinned Unicode data, imported on first use."""
    import unicodedata2

    module: ModuleType = unicodedata2
    return cast(UnicodeData, module)


def character_class(code_points: Iterable[int]) -> str:
    """The inside of a regular expression class that holds these code points."""
    parts: list[str] = []
    first = last = -2
    for point in sorted(code_points):
        if point == last + 1:
            last = point
            continue
        if first >= 0:
            parts.append(_range(first, last))
        first = last = point
    if first >= 0:
        parts.append(_range(first, last))
    return "".join(parts)


def _range(first: int, last: int) -> str:
    return f"\\U{first:08x}" if first == last else f"\\U{first:08x}-\\U{last:08x}"


def _decomposing() -> Iterator[int]:
    """Code points that may decompose, or combine with what precedes them.

    Left out are blocks of which the standard promises that their characters do neither: ideographs, surrogates,
    private use. Hangul syllables decompose by rule, into a leading consonant first, and never recombine otherwise.
    """
    yield from range(0x80, 0x3400)
    yield from range(0xA000, 0xAC00)
    yield from range(0xD7A4, 0xD800)
    yield from range(0xF900, 0x20000)
    yield from range(0x2F800, 0x2FA20)


@lru_cache(maxsize=2)
def clusters(form: Form) -> re.Pattern[str]:
    """Matches every stretch of text that normalization can change, and little else.

    A stretch is a character and those behind it that are not independent of it: marks, and letters that compose
    with the one before (Hangul vowels, some Indic vowel signs); or one character that changes on its own. Texts
    before, between and behind the stretches normalise to themselves.
    """
    data = unicode_data()
    decomposed: Literal["NFD", "NFKD"] = "NFD" if form == "NFC" else "NFKD"
    points = list(_decomposing())
    seconds = {*map(chr, range(0x1161, 0x1176)), *map(chr, range(0x11A8, 0x11C3))}
    for point in points:
        mapping = data.decomposition(chr(point))
        if mapping and not mapping.startswith("<") and " " in mapping:
            seconds.add(chr(int(mapping.rsplit(" ", 1)[1], 16)))
    dependent: list[int] = []
    changing: list[int] = []
    for point in points:
        character = chr(point)
        first = data.normalize(decomposed, character)[0]
        if first in seconds or data.combining(first):
            dependent.append(point)
        elif data.normalize(form, character) != character:
            changing.append(point)
    behind = character_class(dependent)
    return re.compile(f"[^{behind}]?[{behind}]+|[{character_class(changing)}]", re.DOTALL)


@lru_cache(maxsize=1)
def width_table() -> dict[int, str]:
    """What fold_width replaces: characters with a <wide> or <narrow> decomposition, by code point (for translate)."""
    data = unicode_data()
    table: dict[int, str] = {}
    # The ideographic space, and the block that the standard keeps for the others.
    for point in (0x3000, *range(0xFF00, 0xFFF0)):
        mapping = data.decomposition(chr(point))
        if mapping.startswith(("<wide>", "<narrow>")):
            table[point] = "".join(chr(int(each, 16)) for each in mapping.split()[1:])
    return table
