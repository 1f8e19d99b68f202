"""The parts of a running text that are read for amounts: each number with what may belong to it, and no more.

Two words that can be nothing but words part a text: no amount reaches over both, and each of them ends the search for
what belongs to a number on its side. So a part between such words is read by itself, with one of them at either end,
and gives what the whole text gives; a part without a numeral is not read at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from protocontract.normalize.money_currency import MINOR_DIGITS
from protocontract.normalize.money_marks import MarkTable
from protocontract.normalize.money_parse import CLOSERS, CREDIT_DEBIT, MULTIPLIERS, VAGUE
from protocontract.normalize.numerals import CJK_DIGITS, CJK_POINTS, CJK_UNITS

_NUMERAL: Final = re.compile(rf"\d|[{CJK_DIGITS}{CJK_UNITS}]")
# The letters that words are made of (see money_parse); those of East Asia are words by themselves.
_LETTER: Final = r"[^\W\d_\u2e80-\U0003ffff]"
_EAST_ASIAN: Final = r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]"
# Full-width letters and signs, which are folded before marks are looked for.
_FOLDED: Final = r"\uff04\uff21-\uff3a\uff41-\uff5a\uffe0-\uffe6"
# Single letters may multiply: 5 k.
_SHORTEST: Final = 2
# How far to look for the end of a part at first; the distance doubles until one is found.
_NEAR: Final = 40


class Stretches:
    """Where a text may be cut, under one table of marks."""

    __slots__ = ("_characters", "_cut", "_letters", "_never", "_others")

    def __init__(self, table: MarkTable) -> None:
        self._letters: Final = re.compile(f"{_LETTER}+").findall
        # Words that are part of a mark or multiplier, alone or with others, and codes.
        self._never: Final = frozenset(
            run.casefold()
            for text in (*table.texts, *MULTIPLIERS, *CREDIT_DEBIT, *MINOR_DIGITS)
            for run in self._letters(text)
        )
        # Marks without such words: signs, and words of East Asia. One look at their characters passes most parts by.
        others = sorted((text for text in table.texts if not self._letters(text)), key=len, reverse=True)
        characters = re.escape("".join(sorted({*"".join(others)} - {" "})))
        self._characters: Final = re.compile(f"[{characters}{_FOLDED}]").search
        self._others: Final = re.compile(f"[{_FOLDED}]|{'|'.join(map(re.escape, others))}").search
        special = "".join({*"".join(table.texts), *CJK_DIGITS, *CJK_UNITS, *CJK_POINTS, *CLOSERS, *VAGUE, *"负負"})
        east = rf"(?![{re.escape(special)}]){_EAST_ASIAN}"
        word = rf"(?<![^\W\d_]){_LETTER}{{{_SHORTEST},}}(?![^\W\d_])"
        self._cut: Final = re.compile(
            rf"(?P<left>{word})[ ,;:.!?\"]{{1,3}}(?=(?P<right>{word}))|{east}[。，、；：？！]?(?={east})"
        )

    def of(self, text: str) -> Iterator[tuple[int, int]]:
        """The parts [start, end) that may hold amounts, from left to right. Linear in the length of the text."""
        done = 0
        while (numeral := _NUMERAL.search(text, done)) is not None:
            start = self._before(text, done, numeral.start())
            cut = self._first(text, numeral.end())
            if cut is None:
                if self._may_hold(text[start:]):
                    yield start, len(text)
                return
            # The word on the left stays with this part, the one on the right begins the next.
            end = cut.end("left") if cut["left"] else cut.start() + 1
            if self._may_hold(text[start:end]):
                yield start, end
            done = cut.end()

    def _may_hold(self, part: str) -> bool:
        """Whether a part has what a currency mark can be: a sign, a word of a mark, or a code."""
        if self._characters(part) and self._others(part):
            return True
        never = self._never
        return any(run.casefold() in never or not run.isalpha() for run in self._letters(part))

    def _first(self, text: str, start: int) -> re.Match[str] | None:
        return next((cut for cut in self._cut.finditer(text, start) if self._parts(cut)), None)

    def _before(self, text: str, done: int, numeral: int) -> int:
        """The start of the word behind the last cut before the numeral; ``done`` where there is none."""
        distance = _NEAR
        while True:
            start = max(done, numeral - distance)
            for cut in reversed([*self._cut.finditer(text, start, numeral)]):
                if self._parts(cut):
                    return cut.end()
            if start == done:
                return done
            distance *= 2

    def _parts(self, cut: re.Match[str]) -> bool:
        """Whether the words at both sides are nothing but words: no mark, no multiplier, no code."""
        left = cut["left"]
        return left is None or (self._is_word(left) and self._is_word(cut["right"]))

    def _is_word(self, run: str) -> bool:
        # A few capitals may be a code with a multiplier (TEUR); a run that is not all letters holds a fraction, say.
        return (len(run) > 4 or run[1:].islower()) and run.isalpha() and run.casefold() not in self._never


@lru_cache(maxsize=256)
def stretches(table: MarkTable) -> Stretches:
    """Where texts may be cut under a table of marks."""
    return Stretches(table)
