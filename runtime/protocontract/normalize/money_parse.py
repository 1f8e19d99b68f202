"""The grammar of an amount of money: from text to a sign, one exact number and the currencies that it may be in.

``tokens`` cuts a folded text into numbers, currency marks, signs and the rest; ``parse`` decides whether they form
exactly one amount under the declared policy. Which currency it is, and its scale, is decided by ``money``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeAlias

from protocontract.normalize.money_currency import MINOR_DIGITS, WITHDRAWN, words
from protocontract.normalize.money_marks import Mark, MarkTable
from protocontract.normalize.numbers import MINUS_WORDS, NUMBER_RUN, Marks, read
from protocontract.normalize.numerals import (
    BIDI_MARKS,
    CJK_DIGITS,
    CJK_POINTS,
    CJK_UNITS,
    GAP,
    Element,
    Folded,
    Number,
    cjk_number,
)

Fault: TypeAlias = Literal[
    "empty",
    "no_amount",
    "malformed_number",
    "ambiguous_number",
    "percent",
    "range",
    "multiple_amounts",
    "exponent",
    "magnitude",
    "sign",
    "free_text",
    "unknown_currency",
    "obsolete_currency",
    "currency_conflict",
]
# One letter a kind, so that the grammar below can be regular expressions:
#   n number   c currency mark   - + signs   ( )   _ white space   e closing word (整)   b bidi mark
#   d dash that is no minus   s sign that is never read   u no currency of today   t other text
Kind: TypeAlias = Literal["n", "c", "-", "+", "(", ")", "_", "e", "b", "d", "s", "u", "t"]


class Token(NamedTuple):
    """A piece of the text; indexes are code points of the folded text, which are those of the original."""

    kind: Kind
    start: int
    end: int
    number: Number | None = None
    fault: Fault | None = None
    mark: Mark | None = None
    magnitude: bool = False  # a multiplier that strict reading refuses, or an exponent
    trillion: bool = False  # 兆: 10**12 everywhere but in the mainland


class Amount(NamedTuple):
    """One amount: its currency marks are still to be resolved."""

    number: Number
    negative: bool
    marks: tuple[Mark, ...]
    trillion: bool


_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)")
_NO_CENTS: Final = re.compile(r"[.,][-–—](?![0-9–—-])")
_UNIT_RUN: Final = re.compile(f" ?([{CJK_UNITS}]+)")
_CJK_RUN: Final = re.compile(f"[{CJK_DIGITS}{CJK_UNITS}]+(?:[{CJK_POINTS}][{CJK_DIGITS}]+[{CJK_UNITS}]*)?")
_CJK_TAIL: Final = re.compile(f"[{CJK_DIGITS}{CJK_UNITS}]+")
CLOSERS: Final = "整正"
"""What may end an amount in words: 贰拾元整."""
VAGUE: Final = "几幾数數半"
"""Words beside a numeral that make it approximate: 几百, 十几, 数万, 半."""
# Words that may follow a numeral that is an amount nevertheless.
_AFTER_NUMERALS: Final = "多余餘来來左上以"
# Words that make a numeral of its own of the one before them: it counts something, or begins a range.
_COUNTS: Final = "到至个個件只隻台张張份位人天年月日瓶盒包袋箱斤克吨噸米"
# Letters that are not Chinese.
_LETTERS: Final = re.compile(r"[^\W\d_\u2e80-\U0003ffff]+")
# Exponents are bounded so that a short text cannot ask for a number of a million digits.
_MOST_PLACES: Final = 60

# Letters behind a space, and right behind the number: "5 m" may be metres or minutes.
_LETTER_POWERS: Final = {"K": 3, "k": 3, "M": 6, "B": 9, "w": 4, "W": 4}
_GLUED_POWERS: Final = {**_LETTER_POWERS, "m": 6, "b": 9, "T": 12}
WORD_POWERS: Final = {
    **dict.fromkeys(words("thousand thousands tsd tsd. тыс тыс. tys tys. ribu nghìn ngàn"), 3),
    **dict.fromkeys(words("lakh lakhs lac lacs"), 5),
    **dict.fromkeys(
        words(
            "million millions mn mln mln. mio mio. mill mill. millionen millones milioni milhões milhão млн млн. "
            "juta triệu"
        ),
        6,
    ),
    **dict.fromkeys(words("crore crores"), 7),
    **dict.fromkeys(
        words("bn milliard milliards milliarde milliarden mrd mrd. mlrd mlrd. mld mld. млрд млрд. miliar tỷ"), 9
    ),
}
# Words that mean 10**9 or 10**12 by language, and abbreviations of more than one.
UNSURE_POWERS: Final = frozenset(
    words("billion billions billionen billones trillion trillions bln bio bio. l mm mille mil mila tr jt rb")
)
ENGLISH_POWERS: Final = {"billion": 9, "billions": 9, "trillion": 12, "trillions": 12}
POWER_WORDS: Final = frozenset(WORD_POWERS) | UNSURE_POWERS
"""Multipliers as words, in lower case, whether or not they have one value only."""
MULTIPLIERS: Final = POWER_WORDS | frozenset(ENGLISH_POWERS)
"""All of them, those of English among them."""
PERCENT_WORDS: Final = frozenset({"percent", "pct", "prozent", "pourcent", "procent", "percento", "процент"})
# Credit and debit: which sign they mean depends on the account. (Cr may be crore, too.)
CREDIT_DEBIT: Final = frozenset({"CR", "DR", "Cr", "Dr", "cr", "dr"})
# K$, M€, TEUR: a multiplier written into the mark.
_POWER_MARK: Final = re.compile("[kKmMtTbB]([A-Z]{3})")


def tokens(folded: Folded, marks: Marks, table: MarkTable, *, running: bool = False) -> list[Token]:
    """The text as tokens, in order and without gaps. In a ``running`` text a full stop at the end ends a sentence."""
    return _Scanner(folded, marks, table, running=running).run()


class _Scanner:
    """One pass over a folded text."""

    def __init__(self, folded: Folded, marks: Marks, table: MarkTable, *, running: bool) -> None:
        self.folded = folded
        self.text = folded.text
        self.marks = marks
        self.table = table
        self.running = running
        self.found: list[Token] = []

    def run(self) -> list[Token]:
        text, at = self.text, 0
        while at < len(text):
            token = self.number(at) or self.mark(at) or self.other(at)
            self.found.append(token)
            at = token.end
        return self.found

    # -- numbers

    def number(self, start: int) -> Token | None:
        """A number in digits, in Chinese numerals, or in both, with what multiplies it."""
        text = self.text
        run = NUMBER_RUN.match(text, start) if text[start] in "0123456789.,٫" else None
        if run is None:
            return self.numeral(start)
        end = run.end()
        if text[start] in ".,٫" and start and (text[start - 1].isalpha() or text[start - 1] in ".,٫"):
            # A full stop behind a word may belong to either; two of them belong to no number.
            return Token("n", start, end, fault="malformed_number")
        exponent = _EXPONENT.match(text, end)
        if exponent:
            return self.scientific(run, exponent)
        units = _UNIT_RUN.match(text, end)
        if units:
            return self.mixed(start, run, units)
        if end < len(text) and text[end] in CJK_DIGITS:
            return self.mixed(start, run, None)
        no_cents = _NO_CENTS.match(text, end)
        number = self.plain(run.group(), start, end, whole=no_cents is not None)
        if no_cents:
            end = no_cents.end()
        elif end == len(text) - 1 and text[end] in ".," and not self.running:
            # A decimal mark with nothing behind it: 99. in data, or the end of a sentence (lenient).
            closed = self.plain(f"{run.group()}{text[end]}0", start, end)
            if isinstance(closed, Number):
                number, end = Number(closed.units // 10, 0), end + 1
            elif not self.marks.lenient:
                return Token("n", start, end + 1, fault=closed)
        if isinstance(number, str):
            return Token("n", start, end, fault=number)
        return self.multiplied(Token("n", start, end, number))

    def plain(self, body: str, start: int, end: int, *, chinese: bool = False, whole: bool = False) -> Number | Fault:
        zero = self.folded.zero_of(start, end)
        return "malformed_number" if zero is None else read(body, self.marks, zero, chinese=chinese, whole=whole)

    def scientific(self, run: re.Match[str], exponent: re.Match[str]) -> Token:
        start, end = run.start(), exponent.end()
        number = self.plain(run.group(), start, run.end())
        if not self.marks.lenient:
            return Token("n", start, end, fault="exponent")
        if isinstance(number, str):
            return Token("n", start, end, fault=number)
        digits = exponent.group(1)
        if len(digits.lstrip("+-0")) > 2 or abs(int(digits)) > _MOST_PLACES:
            return Token("n", start, end, fault="exponent")
        return Token("n", start, end, number.shifted(int(digits)), magnitude=True)

    def multiplied(self, token: Token) -> Token:
        """The number with a multiplier letter or word behind it: 1.26K, 35 lakh."""
        text, end = self.text, token.end
        spaced = end < len(text) and text[end] == " "
        word = _LETTERS.match(text, end + spaced)
        if word is None:
            return token
        stop = word.end()
        name = word.group()
        if stop < len(text) and text[stop] == "." and f"{name.casefold()}." in WORD_POWERS:
            stop += 1
        if self.table.find(text, word.start()) is not None and name.casefold() not in WORD_POWERS:
            return token
        lower = name.casefold()
        power = (_LETTER_POWERS if spaced else _GLUED_POWERS).get(name) or WORD_POWERS.get(lower)
        if power is None and self.table.english:
            power = ENGLISH_POWERS.get(lower)
        if name in CREDIT_DEBIT:
            return token._replace(end=stop, number=None, fault="free_text")
        if power is None:
            into_mark = _POWER_MARK.fullmatch(name)
            in_mark = into_mark is not None and into_mark.group(1) in MINOR_DIGITS
            if in_mark or lower in UNSURE_POWERS or (spaced and name in _GLUED_POWERS):
                return token._replace(end=stop, number=None, fault="magnitude")
            return token
        if not self.marks.lenient or token.number is None:
            return token._replace(end=stop, number=None, fault="magnitude")
        return token._replace(end=stop, number=token.number.shifted(power), magnitude=True)

    def numeral(self, start: int) -> Token | None:
        """A number that begins with a Chinese numeral."""
        run = _CJK_RUN.match(self.text, start)
        if run is None:
            return None
        elements: list[Element] = [*_canonical(run.group())]
        end = run.end()
        if not any(point in run.group() for point in CJK_POINTS):
            end = self.extend(elements, end)
        return self.evaluated(elements, start, end)

    def mixed(self, start: int, run: re.Match[str], units: re.Match[str] | None) -> Token:
        """A number in digits that a Chinese unit follows: 4.287亿, 3千5百."""
        number = self.plain(run.group(), start, run.end(), chinese=True)
        if isinstance(number, str):
            return Token("n", start, units.end() if units else run.end(), fault=number)
        elements: list[Element] = [number]
        end = run.end()
        if units:
            elements += _canonical(units.group(1))
            end = units.end()
        return self.evaluated(elements, start, self.extend(elements, end))

    def extend(self, elements: list[Element], end: int) -> int:
        """More numerals and numbers that follow without a gap."""
        text = self.text
        while end < len(text):
            tail = _CJK_TAIL.match(text, end)
            if tail:
                elements += _canonical(tail.group())
                end = tail.end()
                continue
            run = NUMBER_RUN.match(text, end) if text[end].isdigit() else None
            if run is None:
                break
            number = self.plain(run.group(), end, run.end(), chinese=True)
            # What cannot be read makes the whole run unreadable: two numbers in a row never are a number.
            elements += [number] if isinstance(number, Number) else [Number(0, 1), Number(0, 1)]
            end = run.end()
        return end

    def evaluated(self, elements: list[Element], start: int, end: int) -> Token:
        number = cjk_number(elements)
        vague = (start and self.text[start - 1] in VAGUE) or (end < len(self.text) and self.text[end] in VAGUE)
        letters = _LETTERS.match(self.text, end)
        if number is None or vague or (letters and letters.group() in _GLUED_POWERS):
            return Token("n", start, end, fault="malformed_number")
        return Token("n", start, end, number, trillion="兆" in elements)

    # -- everything else

    def mark(self, start: int) -> Token | None:
        """A currency mark or code."""
        text = self.text
        found = self.table.find(text, start)
        # A code is as long as the word it is, so a mark that is part of the word cannot hide it; and a longer mark
        # (MOP$) beats the code that it begins with.
        word = _LETTERS.match(text, start)
        if word and len(word.group()) == 3 and word.group().isascii() and (found is None or found[0] <= word.end()):
            code = word.group()
            if code.upper() in MINOR_DIGITS:
                if code.isupper() or code.islower():
                    mark = Mark(frozenset({code.upper()}), weak=code.islower())
                    return Token("c", start, word.end(), mark=mark)
                if found is None:
                    return Token("u", start, word.end(), fault="unknown_currency")
            elif code in WITHDRAWN:
                return Token("u", start, word.end(), fault="obsolete_currency")
        if found is None:
            return None
        end, mark = found
        if mark.unknown:
            return Token("u", start, end, fault="unknown_currency", mark=mark)
        return Token("c", start, end, mark=mark)

    def other(self, start: int) -> Token:
        text = self.text
        character = text[start]
        if character == " " or character == GAP:
            end = start + 1
            while end < len(text) and text[end] in (" ", GAP):
                end += 1
            return Token("_", start, end)
        if character in "+-()":
            return Token(character, start, start + 1)  # type: ignore[arg-type]
        if character == "–":
            return Token("d", start, start + 1)
        if character in BIDI_MARKS:
            return Token("b", start, start + 1)
        if character in "▲△▼±∓—负負":
            return Token("s", start, start + 1)
        if character in CLOSERS and self.found and self.found[-1].kind in "nc":
            return Token("e", start, start + 1)
        if character in "%٪‰":
            return Token("t", start, start + 1, fault="percent")
        word = _LETTERS.match(text, start)
        if word:
            fault: Fault | None = "percent" if word.group().casefold() in PERCENT_WORDS else None
            return Token("t", start, word.end(), fault=fault)
        if _is_currency_sign(character):
            return Token("u", start, start + 1, fault="unknown_currency")
        return Token("t", start, start + 1)


def _canonical(run: str) -> list[str]:
    return ["兆" if character == "조" else character for character in run]


def _is_currency_sign(character: str) -> bool:
    if character <= "\x7f":
        return False
    from unicodedata2 import category

    return bool(category(character) == "Sc")


# ----------------------------------------------------------------------------------------------------------------------
# From tokens to one amount

# The sign forms of the policy table; spaces (_) may stand anywhere but between a minus and its number.
_FORMS: Final = tuple(
    (re.compile(form), negative)
    for form, negative in (
        (r"_?\+?(?:c_?)*n_?(?:e?_?c)*_?e?", False),
        (r"(?:c_?)+\+n(?:_?c)*", False),
        (r"-(?:c_?)*n(?:_?c)*e?", True),
        (r"(?:c_?)+-n(?:_?c)*", True),
        (r"(?:c_?)*n-(?:_?c)*", True),
        (r"(?:c_?)*\(_?(?:c_?)*n(?:_?c)*_?\)(?:_?c)*", True),
    )
)
_SIGNS: Final = frozenset("-+ds")
_CLOSE: Final = frozenset("_c-+()debs")


def parse(text: str, found: list[Token], *, lenient: bool) -> Amount | Fault:
    """The one amount that the tokens form."""
    found = [token for token in found if token.kind != "b"]
    if lenient:
        found = [
            Token("t", token.start, token.end)
            if token.kind == "n" and found[min(at + 1, len(found) - 1)].kind == "t" and _numerals_in_words(text, token)
            else token
            for at, token in enumerate(found)
        ]
    found = _joined_parts(found)
    numbers = [at for at, token in enumerate(found) if token.kind == "n"]
    if not numbers:
        return "no_amount"
    if any(token.fault == "percent" for token in found):
        return "percent"
    if len(numbers) > 1:
        between = "".join(token.kind for token in found[numbers[0] + 1 : numbers[1]])
        return "range" if _SIGNS & set(between) else "multiple_amounts"
    place = numbers[0]
    if lenient:
        if _qualified(found):
            return "unknown_currency"
        found = _without_far_words(text, found, place)
    for token in found:
        if token.kind == "u" and token.fault:
            return token.fault
    number = found[place]
    if number.fault:
        return number.fault
    kinds = _kinds(text, found, place, lenient=lenient)
    if kinds is None:
        return "sign"
    if "t" in kinds or "u" in kinds:
        return "unknown_currency" if _unknown_capitals(text, found) else "free_text"
    marks = [token for token in found if token.kind == "c"]
    if lenient:
        rest = {text[token.start : token.end] for token in found if token.kind == "t"}
        if rest & CREDIT_DEBIT:
            return "free_text"
        if any(word.casefold() in MINUS_WORDS for word in rest):
            return "sign"
        if any(word.casefold() in POWER_WORDS for word in rest):
            return "magnitude"
        if not marks and _unknown_capitals(text, found):
            return "unknown_currency"
    negative = next((negative for form, negative in _FORMS if form.fullmatch(kinds)), None)
    if negative is None:
        return "sign" if _SIGNS & set(kinds) else "free_text"
    if any(a.end == b.start and text[a.start : a.end] == text[b.start : b.end] for a, b in pairwise(marks)):
        return "free_text"
    value = number.number
    if value is None:
        return "malformed_number"
    return Amount(value, negative, tuple(token.mark for token in marks if token.mark), number.trillion)


def _joined_parts(found: list[Token]) -> list[Token]:
    """Yuan, jiao and fen as one number: 五元三角八分. The marks stay, the numbers behind the first one go."""
    out: list[Token] = []
    at = 0
    while at < len(found):
        token = found[at]
        pairs: list[tuple[Token, Token]] = []
        here = at
        while here + 1 < len(found) and found[here].kind == "n" and (mark := found[here + 1].mark) is not None:
            if found[here + 1].kind != "c":
                break
            order = 1 if mark.yuan else mark.part
            before = pairs[-1][1].mark if pairs else None
            if order == 0 or (before is not None and order >= (1 if before.yuan else before.part)):
                break
            pairs.append((found[here], found[here + 1]))
            here += 2
        if not pairs or (len(pairs) == 1 and pairs[0][1].mark is not None and pairs[0][1].mark.yuan):
            out.append(token)
            at += 1
            continue
        out.append(_sum(pairs))
        out += [mark for _, mark in pairs]
        at = here
    return out


def _sum(pairs: list[tuple[Token, Token]]) -> Token:
    start, end = pairs[0][0].start, pairs[-1][0].end
    units, scale = 0, 2
    for place, (number, mark) in enumerate(pairs):
        value, part = number.number, mark.mark.part if mark.mark else 0
        if value is None:
            return Token("n", start, end, fault=number.fault or "malformed_number")
        alone = len(pairs) == 1
        if not alone and (value.scale or (place and value.units > 9)):
            return Token("n", start, end, fault="malformed_number")
        if alone:
            return Token("n", start, end, value.shifted(part), trillion=number.trillion)
        units += value.units * 10 ** (2 + part)
    last = pairs[-1][1].mark
    if last is not None and last.part == -1:
        units, scale = units // 10, 1
    return Token("n", start, end, Number(units, scale), trillion=pairs[0][0].trillion)


def _without_far_words(text: str, found: list[Token], place: int) -> list[Token]:
    """Words that may be money are so only beside the number; elsewhere they are words (``all``, ``Fr.``, 元)."""
    left = place
    while left and found[left - 1].kind in _CLOSE | {"u"}:
        left -= 1
    right = place
    while right + 1 < len(found) and found[right + 1].kind in _CLOSE | {"u"}:
        right += 1
    marked = any(token.kind == "c" for token in found[left : right + 1])
    return [
        token._replace(kind="t", fault=None, mark=None)
        if (token.mark is not None and token.mark.weak and not left <= at <= right)
        or (
            token.kind == "u"
            and token.mark is None
            and text[token.start : token.end].istitle()
            and (marked or not left <= at <= right)
        )
        else token
        for at, token in enumerate(found)
    ]


def _numerals_in_words(text: str, token: Token) -> bool:
    """Whether a Chinese numeral is part of a word: 一共, 百货."""
    after = text[token.end : token.end + 1]
    return (
        not any("0" <= character <= "9" for character in text[token.start : token.end])
        and after.isalpha()
        and after >= "\u2e80"
        and after not in _AFTER_NUMERALS + _COUNTS
    )


def _kinds(text: str, found: list[Token], place: int, *, lenient: bool) -> str | None:
    """The kinds as one string, with what lenient reading drops dropped; None where a sign cannot be told."""
    kinds: list[str] = [token.kind for token in found]
    if not lenient:
        return "".join(kinds)
    encloses = "(" in kinds[:place] and ")" in kinds[place:]
    if encloses and any(kind == "t" for kind in kinds):
        return None
    for at, kind in enumerate(kinds):
        if kind in "()" and not encloses:
            kinds[at] = "t"
        if kind in "-d":
            kinds[at] = _dash(text, found, at)
        if kind == "s" and text[found[at].start] == "—" and 0 < at < len(kinds) - 1 and kinds[at + 1] == "_":
            kinds[at] = "t"
    if any(kind == "?" for kind in kinds):
        return None
    kept: list[str] = []
    for kind in kinds:
        if kind in "t_":
            if kept and kept[-1] != "_":
                kept.append("_")
        else:
            kept.append(kind)
    return "".join(kept).strip("_")


def _dash(text: str, found: list[Token], at: int) -> Kind | Literal["?"]:
    """What a dash is in lenient reading: a minus (``-``), part of the text (``t``), or nobody knows (``?``)."""
    before = found[at - 1] if at else None
    after = found[at + 1] if at + 1 < len(found) else None
    if before is not None and before.kind == "t" and (text[before.end - 1].isalnum() or text[before.start] == "/"):
        return "t" if after is None or after.kind in "t_" else "?"
    if after is not None and after.kind == "t":
        # In front of a word it may be the sign of what stands behind the word.
        return "?" if before is None or before.kind == "_" else "t"
    return "-"


def _qualified(found: list[Token]) -> bool:
    """Whether a word that several currencies share follows another word, which may say which: Canadian dollars."""
    for at in range(2, len(found)):
        mark = found[at].mark
        if (
            mark is not None
            and mark.weak
            and len(mark.candidates) > 1
            and found[at].end - found[at].start > 3
            and found[at - 1].kind == "_"
            and found[at - 2].kind == "t"
        ):
            return True
    return False


def _unknown_capitals(text: str, found: list[Token]) -> bool:
    """Whether the text has what looks like a code: three capitals."""
    return any(
        token.kind == "t"
        and token.end - token.start == 3
        and text[token.start : token.end].isupper()
        and text[token.start : token.end].isascii()
        for token in found
    )
