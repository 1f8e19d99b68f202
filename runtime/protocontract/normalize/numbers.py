"""Numbers as people write them: which mark divides, which marks group, and when nobody can tell.

Shared by ``money`` and ``quantity``. The marks of a locale are CLDR's, through Babel, which is imported on first use.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from protocontract.normalize.numerals import Number
from protocontract.violations import OptionError

if TYPE_CHECKING:
    from babel.core import Locale

NumberFault: TypeAlias = Literal["malformed_number", "ambiguous_number"]

ARABIC_DECIMAL: Final = "\u066b"
ARABIC_GROUP: Final = "\u066c"
_ALWAYS_GROUP: Final = " '" + ARABIC_GROUP

# A run that can only be one number, well formed or not. Underscores, bars and doubled marks are taken in so that they
# are refused where they stand; a space belongs to a number only before three digits.
NUMBER_RUN: Final = re.compile(
    rf"[.,{ARABIC_DECIMAL}]?[0-9]+(?:[.,'{ARABIC_DECIMAL}{ARABIC_GROUP}_|]+[0-9]+| [0-9]{{3}}(?![0-9]))*"
)
_PIECES: Final = re.compile(rf"([.,'{ARABIC_DECIMAL}{ARABIC_GROUP} ])([0-9]+)")

MINUS_WORDS: Final = frozenset({"minus", "negative", "moins", "menos", "meno", "минус"})
"""Words in front of a number that say what a minus says: reading that drops words must not drop these."""

# Longer runs of digits are no numbers that anyone wrote, and Python refuses to convert much longer ones.
_LONGEST: Final = 1000

# CLDR numbering systems by the code point of their zero, where CLDR has marks of their own for them.
_SYSTEMS: Final = {
    0x30: "latn",
    0x660: "arab",
    0x6F0: "arabext",
    0x7C0: "nkoo",
    0x966: "deva",
    0x9E6: "beng",
    0x1040: "mymr",
    0xF20: "tibt",
    0x1E950: "adlm",
    0x11136: "cakm",
    0xABF0: "mtei",
    0x1C50: "olck",
    0x10D30: "rohg",
}


@dataclass(frozen=True, slots=True)
class Marks:
    """How numbers are to be read: the declared marks, or none.

    ``by_zero`` gives (dividing marks, grouping marks) for digits by the code point of their zero; empty where nothing
    is declared. ``lakh`` permits groups of two before the last three digits.
    """

    lenient: bool = False
    by_zero: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    lakh: bool = True

    @property
    def free(self) -> bool:
        """Whether nothing is declared, so that the text alone must tell which mark divides."""
        return not self.by_zero

    def of(self, zero: int) -> tuple[str, str]:
        """The dividing and the grouping marks for digits of the script whose zero is given."""
        return self.by_zero.get(zero) or self.by_zero[0x30]


@lru_cache(maxsize=256)
def parse_locale(tag: str) -> Locale:
    """The CLDR locale of a BCP 47 tag such as ``de-DE``.

    Raises OptionError where the tag is malformed or CLDR does not know it.
    """
    from babel.core import Locale, UnknownLocaleError

    parts = tag.replace("_", "-").split("-")
    if parts[0].casefold() == "no":
        # The macrolanguage; CLDR keeps Norway's data under Bokmål.
        parts[0] = "nb"
    try:
        return Locale.parse("-".join(parts), sep="-")
    except (ValueError, UnknownLocaleError, TypeError):
        raise OptionError("locale", f'unknown locale "{tag}"; expected a BCP 47 tag such as "de-DE"') from None


def declared_marks(*, policy: str, locale: str | None, decimal: str | None) -> Marks:
    """The marks that a contract declares: ``decimal`` beats the marks of ``locale``.

    Raises OptionError for an unknown policy or locale, or a decimal mark that is neither "." nor ",".
    """
    if policy not in {"strict", "lenient"}:
        raise OptionError("policy", f'unknown policy "{policy}"; expected strict or lenient')
    if decimal not in {None, ".", ","}:
        raise OptionError("decimal", f'unknown decimal mark "{decimal}"; expected "." or ","')
    lenient = policy == "lenient"
    cldr = parse_locale(locale) if locale else None
    lakh = cldr is None or cldr.territory == "IN"
    if decimal:
        return Marks(lenient, {0x30: (decimal, "," if decimal == "." else ".")}, lakh)
    if cldr is None:
        return Marks(lenient)
    by_zero: dict[int, tuple[str, str]] = {}
    for zero, system in _SYSTEMS.items():
        symbols = cldr.number_symbols.get(system)
        if symbols and symbols.get("decimal"):
            # Austria groups money otherwise than other numbers, French Switzerland divides it otherwise.
            divides = {symbols["decimal"], symbols.get("currencyDecimal", symbols["decimal"])}
            groups = {symbols.get("group", ""), symbols.get("currencyGroup", "")} - divides
            by_zero[zero] = ("".join(sorted(divides)), "".join(sorted(groups)))
    return Marks(lenient, by_zero, lakh)


def read(
    body: str, marks: Marks, zero: int = 0x30, *, chinese: bool = False, whole: bool = False
) -> Number | NumberFault:
    """The number that a run of digits and marks stands for.

    ``body`` matches ``NUMBER_RUN``; ``zero`` tells the script of its digits. ``chinese`` reads the marks the Chinese
    way (full stop divides) where nothing is declared; ``whole`` says that the text itself marks the number as one
    without a fraction (``1.899,-``).
    """
    if len(body) > _LONGEST:
        return "malformed_number"
    if body.isdigit():
        return Number(int(body), 0)
    head_end = 0
    while head_end < len(body) and body[head_end].isdigit():
        head_end += 1
    head = body[:head_end]
    pieces = _PIECES.findall(body, head_end)
    if head_end + sum(1 + len(digits) for _, digits in pieces) != len(body):
        return "malformed_number"
    separators = [mark for mark, _ in pieces]
    groups = [digits for _, digits in pieces]
    if chinese and marks.free:
        divides: bool | NumberFault = _divides_declared(separators, (".", ","))
    elif marks.free:
        divides = _divides_free(head, separators, groups, lenient=marks.lenient, whole=whole)
    else:
        divides = _divides_declared(separators, marks.of(zero))
    if isinstance(divides, str):
        return divides
    fraction = ""
    if divides:
        if whole:
            return "malformed_number"
        fraction = groups.pop()
        separators.pop()
    if groups and not _well_grouped(head, separators, groups, lakh=marks.lakh):
        return "malformed_number"
    if not head and not divides:
        return "malformed_number"
    return Number(int((head or "0") + "".join(groups) + fraction), len(fraction))


def _divides_declared(separators: list[str], declared: tuple[str, str]) -> bool | NumberFault:
    """Whether the last mark divides, under declared marks; every other mark must be one that groups."""
    dividing, grouping = declared[0] + ARABIC_DECIMAL, declared[1] + _ALWAYS_GROUP
    divides = separators[-1] in dividing
    others = separators[:-1] if divides else separators
    return divides if all(mark in grouping for mark in others) else "malformed_number"


def _divides_free(
    head: str, separators: list[str], groups: list[str], *, lenient: bool, whole: bool
) -> bool | NumberFault:
    """Whether the last mark divides where nothing is declared, or that it cannot be told."""
    last = separators[-1]
    if ARABIC_DECIMAL in separators:
        return True if separators.index(ARABIC_DECIMAL) == len(separators) - 1 else "malformed_number"
    marks = [mark for mark in separators if mark in ".,"]
    if not marks or whole:
        return False
    if len(set(separators)) > 1:
        # Two kinds of marks: the last one divides, if it is a mark that can and stands there once.
        return True if last in ".," and separators.count(last) == 1 else "malformed_number"
    if len(separators) > 1:
        return False
    if len(groups[0]) != 3 or not 1 <= len(head) <= 3 or head[0] == "0":
        return True
    return False if lenient else "ambiguous_number"


def _well_grouped(head: str, separators: list[str], groups: list[str], *, lakh: bool) -> bool:
    if len(set(separators)) > 1 or not 1 <= len(head) <= 3 or head[0] == "0" or len(groups[-1]) != 3:
        return False
    sizes = {len(group) for group in groups[:-1]}
    # Groups of two are an Indian habit, and commas make them.
    return sizes <= {3} or (lakh and sizes == {2} and len(head) <= 2 and separators[0] == ",")
