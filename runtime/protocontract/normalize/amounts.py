"""Amounts of money inside running text: each unambiguous one becomes its standard form, "<code> <amount>".

What an amount is and what it means is decided by the normalizer ``money`` with the same options. An amount that it
refuses (ambiguous, no currency, a currency that is not allowed) stays as it is and is reported as a warning. So does
one that runs into its neighbours in such a way that its standard form would be read as something else.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from protocontract.normalize.edits import Edit, splice
from protocontract.violations import OptionError, Refusal

if TYPE_CHECKING:
    from protocontract.normalize.money import Found

# Each round leaves out amounts that were read anew after the last one; what is not settled then stays as it is.
_ROUNDS: Final = 6
_LONGEST_NUMBER: Final = 200


class _Reading(NamedTuple):
    edits: list[Edit]
    warnings: list[Refusal]


class AmountFinder:
    """The step ``amounts`` with its options bound."""

    __slots__ = ("_find",)

    def __init__(self, options: Mapping[str, Any]) -> None:
        from protocontract.normalize import money

        known = inspect.signature(money.finder).parameters
        if any(name not in known for name in options):
            raise OptionError("amounts", f"no such option; expected some of {', '.join(known)}")
        self._find: Callable[[str], list[Found]] = money.finder(**options)

    def may_change(self, text: str) -> bool:
        """Whether an amount of the text is not in its standard form yet."""
        return bool(self._candidates(text)[0])

    def edits(self, text: str) -> list[Edit]:
        """The edits that bring every amount that can be read into its standard form."""
        return self._read(text).edits

    def apply(self, text: str) -> str:
        """The text with every amount that can be read in its standard form."""
        edits = self._read(text).edits
        return splice(text, edits) if edits else text

    def warnings(self, text: str) -> list[Refusal]:
        """Why amounts were left as they are; ``index`` counts all amounts of the text."""
        return self._read(text).warnings

    def _candidates(self, text: str) -> tuple[dict[int, Edit], dict[int, Refusal]]:
        """The amounts that change and those that are refused, by their number among all amounts."""
        changing: dict[int, Edit] = {}
        refused: dict[int, Refusal] = {}
        for index, (start, end, money) in enumerate(self._find(_without_long_numbers(text))):
            if isinstance(money, Refusal):
                refused[index] = Refusal(money.rule_id, money.message, index)
            elif text[start:end] != (standard := f"{money.currency} {money.amount}"):
                changing[index] = Edit(start, end, standard)
        return changing, refused

    def _read(self, text: str) -> _Reading:
        changing, refused = self._candidates(text)
        left_out = self._settle(text, changing)
        # Amounts that are left out are looked for again in a second pass; it must leave them out too.
        if left_out and changing:
            edited = splice(text, list(changing.values()))
            again, _ = self._candidates(edited)
            self._settle(edited, again)
            if again:
                left_out |= set(changing)
                changing.clear()
        refused |= {
            index: Refusal("money.ambiguous", "the amount runs into its neighbours; expected amounts apart", index)
            for index in left_out
        }
        return _Reading(list(changing.values()), [refused[index] for index in sorted(refused)])

    def _settle(self, text: str, changing: dict[int, Edit]) -> set[int]:
        """Takes out of ``changing`` what would not be read as what was written; returns the numbers of these."""
        left_out: set[int] = set()
        left_places: set[tuple[int, int]] = set()
        for _ in range(_ROUNDS):
            if not changing:
                return left_out
            again, _refused = self._candidates(splice(text, list(changing.values())))
            unsettled = _disturbed(changing, [(edit.start, edit.end) for edit in again.values()], left_places)
            if not unsettled:
                return left_out
            left_out |= unsettled
            for index in unsettled:
                edit = changing.pop(index)
                left_places.add((edit.start, edit.end))
        left_out |= set(changing)
        changing.clear()
        return left_out


@lru_cache(maxsize=1)
def _long_number() -> re.Pattern[str]:
    from protocontract.normalize.numerals import CJK_DIGITS, CJK_POINTS, CJK_UNITS

    numerals = rf"[\d.,'’٫٬{CJK_DIGITS}{CJK_UNITS}{''.join(CJK_POINTS)}]{{{_LONGEST_NUMBER},}}"
    spaced = rf"\d{{1,3}}(?:[ \u00a0\u2007\u2009\u202f]\d{{3}}){{{_LONGEST_NUMBER // 4},}}"
    return re.compile(f"{numerals}|{spaced}")


def _without_long_numbers(text: str) -> str:
    """The text with letters in the place of numbers that no amount has, whose value would be costly to find out."""
    if len(text) < _LONGEST_NUMBER:
        return text
    return _long_number().sub(lambda match: "x" * len(match.group()), text)


def _disturbed(
    changing: Mapping[int, Edit], places: list[tuple[int, int]], left_places: set[tuple[int, int]]
) -> set[int]:
    """The edits to take back, given what is read as an amount to be changed (``places``) in the text they made.

    These are the edits whose results share text with such a place. A place that shares text with none is an amount
    that was left out on purpose (``left_places``, in the text before), or one that could not be read before: then the
    nearest edit set it free. Edits and places are in order.
    """
    disturbed: set[int] = set()
    shift = at = 0
    before: tuple[int, int] | None = None  # The last edit before a place: its number, and the end of its result.
    for index, edit in [*changing.items(), (-1, None)]:
        start = edit.start + shift if edit else None
        end = start + len(edit.text) if edit and start is not None else None
        while at < len(places) and (start is None or places[at][1] <= start):
            left, right = places[at]
            at += 1
            if (left - shift, right - shift) in left_places or (before is not None and left < before[1]):
                continue
            if start is None or (before is not None and left - before[1] <= start - right):
                disturbed |= {before[0]} if before else set()
            else:
                disturbed.add(index)
        if edit is None or start is None or end is None:
            break
        if at < len(places) and places[at][0] < end:
            disturbed.add(index)
        shift += len(edit.text) - (edit.end - edit.start)
        before = (index, end)
    return disturbed


def finder(options: Mapping[str, Any]) -> AmountFinder:
    """Checks and binds the options of ``money`` for amounts inside a text; raises OptionError for wrong ones."""
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        raise OptionError("amounts", "expected the options of the normalizer money by name")
    return AmountFinder(options)
