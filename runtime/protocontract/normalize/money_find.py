"""Amounts inside running text: what is unmistakably one, and where it stands."""

from __future__ import annotations

import re
from typing import Final

from protocontract.normalize.money_core import CANONICAL, EXACT, Found, Money, Options, in_currency, refusal
from protocontract.normalize.money_currency import MINOR_DIGITS, words
from protocontract.normalize.money_parse import POWER_WORDS, Token, parse, tokens
from protocontract.normalize.money_stretches import stretches
from protocontract.normalize.numerals import fold
from protocontract.violations import Refusal

_STANDARD: Final = re.compile(r"([A-Z]{3}) (-?[0-9.]+)")
# Words that stand before an amount and are not words of a language (Le 5 mai, den 5. Mai).
_BEFORE: Final = frozenset(words("CHF FCFA Fr. Kč NTD RM RMB Rp Rp. Rs Rs. SFr. TL kr zł"))


def find_amounts(text: str, options: Options) -> list[Found]:
    """All amounts, from left to right, without overlaps. Linear in the length of the text."""
    parts = stretches(options.table)
    amounts: list[Found] = []
    start = 0
    # Nothing that belongs to an amount reaches over a line feed.
    for line in text.split("\n"):
        for first, last in parts.of(line):
            at = start + first
            amounts += [
                found._replace(start=found.start + at, end=found.end + at)
                for found in in_part(line[first:last], options)
            ]
        start += len(line) + 1
    return amounts


def in_part(text: str, options: Options) -> list[Found]:
    """The amounts of one line, or of a part of one (see ``money_stretches``): the whole text is looked at."""
    folded = fold(text)
    if not options.table.may_hold(folded.text):
        return []
    found = [token for token in tokens(folded, options.marks, options.table, running=True) if token.kind != "b"]
    amounts: list[Found] = []
    done = 0
    for place, token in enumerate(found):
        if token.kind != "n" or place < done:
            continue
        left, right = _Reach(folded.text, found).of(place)
        if left is None or left < done or not any(part.kind == "c" for part in found[left : right + 1]):
            continue
        first, last = found[left], found[right]
        end, fault = _disturbed(folded.text, found, left, right)
        if fault == "skip":
            continue
        if fault:
            amounts.append(Found(first.start, found[end].end, refusal(fault, text[first.start : found[end].end])))
            done = end + 1
            continue
        piece = text[first.start : last.end]
        amounts.append(Found(first.start, last.end, _result(piece, folded.text, found[left : right + 1], options)))
        done = right + 1
    return amounts


def _result(piece: str, text: str, part: list[Token], options: Options) -> Money | Refusal:
    standard = _STANDARD.fullmatch(piece)
    if standard:
        # The standard form is kept before a locale is looked at, so that a second pass changes nothing.
        code, amount = standard.groups()
        matches = CANONICAL.fullmatch if options.scale == "any" else EXACT.get(code, lambda _: None)
        if code in MINOR_DIGITS and matches(amount) and (not options.allowed or code in options.allowed):
            return Money(amount, code)
    read = parse(text, part, lenient=False)
    return refusal(read, piece) if isinstance(read, str) else in_currency(piece, read, None, options)


class _Reach:
    """How far an amount reaches to both sides of its number."""

    def __init__(self, text: str, found: list[Token]) -> None:
        self.text = text
        self.found = found

    def of(self, place: int) -> tuple[int | None, int]:
        """The first and last token; None where the number belongs to a word."""
        found = self.found
        left = place
        if left and found[left - 1].kind in "-+":
            marked = self.mark_before(left - 2)
            if marked is not None:
                left = marked
            elif self.opens(left - 2):
                left -= 1
        else:
            while (marked := self.mark_before(left - 1)) is not None:
                left = marked
            if left < place and left and found[left - 1].kind in "-+" and self.opens(left - 2):
                left -= 1
        if left == place and place and found[place - 1].kind == "t" and self.glued(place - 1, place):
            return None, place
        right = place
        while True:
            after = right + 1
            if after < len(found) and found[after].kind == "_" and self.one_space(after):
                after += 1
            if after < len(found) and self.is_mark_after(after):
                right = after
            elif after > right + 1 or after == len(found):
                return left, right
            elif found[after].kind == "e":
                right = after
            elif found[right].kind == "c" and self.is_part(after):
                right = after + 1
            else:
                return left, right

    def mark_before(self, at: int) -> int | None:
        """The place of the mark that ends at ``at``, over one space."""
        found = self.found
        if at > 0 and found[at].kind == "_" and self.one_space(at):
            at -= 1
        if at < 0 or found[at].kind != "c":
            return None
        mark = found[at].mark
        word = self.text[found[at].start : found[at].end]
        if mark is None or mark.part or (mark.weak and word not in _BEFORE):
            return None
        return at

    def is_mark_after(self, at: int) -> bool:
        token = self.found[at]
        word = self.text[token.start : token.end]
        if token.kind != "c" or token.mark is None or token.mark.part:
            return False
        if word.isascii() and word.isalpha() and len(word) == 1:
            return False
        code = len(word) == 3 and word.isascii() and word.islower() and word.upper() in MINOR_DIGITS
        return not code

    def is_part(self, at: int) -> bool:
        """Whether jiao or fen follow: a number and their mark."""
        if at + 1 >= len(self.found) or self.found[at].kind != "n":
            return False
        mark = self.found[at + 1].mark
        return mark is not None and mark.part != 0

    def one_space(self, at: int) -> bool:
        token = self.found[at]
        return token.end - token.start == 1

    def opens(self, at: int) -> bool:
        """Whether a sign behind this token can only be a sign: at the start, after a space or punctuation."""
        if at < 0 or self.found[at].kind in "_(":
            return True
        return self.found[at].kind == "t" and not self.text[self.found[at].end - 1].isalnum()

    def glued(self, before: int, after: int) -> bool:
        """Whether a word runs into the number (A5); Chinese has no spaces, so its words do not."""
        last = self.text[self.found[before].end - 1]
        return last.isalnum() and last < "\u2e80" and self.found[before].end == self.found[after].start


def _disturbed(text: str, found: list[Token], left: int, right: int) -> tuple[int, str | None]:
    """What stands beside an amount and makes it another thing: a range, a percentage, a multiplier, a word."""
    before = found[left - 1] if left else None
    if before is not None and before.kind in "-+ds" and left > 1 and found[left - 2].kind in "nc":
        return right, "range"
    if before is not None and before.kind in "-+" and left > 1 and found[left].kind != before.kind:
        return right, "sign"
    at = right + 1
    if at < len(found) and found[at].kind == "_":
        at += 1
    if at < len(found) and found[at].kind in "-ds" and found[at].end < len(text):
        beyond = at + 1
        while beyond < len(found) and found[beyond].kind in "_c":
            beyond += 1
        if beyond < len(found) and found[beyond].kind == "n":
            while beyond + 1 < len(found) and found[beyond + 1].kind == "c":
                beyond += 1
            return beyond, "range"
    if (
        at == right + 1
        and at < len(found)
        and found[at].kind in "-+"
        and (at + 1 == len(found) or found[at + 1].kind == "_")
    ):
        return at, "sign"
    numerals = not any("0" <= character <= "9" for character in text[found[left].start : found[right].end])
    if at == right + 1 and at < len(found) and found[at].kind == "n" and numerals:
        # Chinese numerals in words: 一元二次方程.
        return right, "skip"
    if at == right + 1 and at < len(found) and found[at].kind == "n" and found[right].kind == "c":
        # 35€99: the mark may belong to either number, or stand for a decimal point.
        return at, "multiple_amounts"
    if at >= len(found) or found[at].kind != "t":
        return right, None
    word = text[found[at].start : found[at].end]
    if found[at].fault == "percent":
        return right, "skip"
    if word.casefold() in POWER_WORDS:
        return at, "magnitude"
    last = found[right]
    if at == right + 1 and word[0].isalpha():
        han = word[0] >= "\u2e80"
        if (last.kind == "n" and not han) or (han and numerals):
            return right, "skip"
    return right, None
