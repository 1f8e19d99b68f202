"""What the functions of ``money`` share: options, the choice of the currency, scale, and the wording of refusals."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from protocontract.normalize.money_currency import MINOR_DIGITS, WITHDRAWN, currency_code, region_currencies
from protocontract.normalize.money_marks import Mark, MarkTable, mark_table
from protocontract.normalize.numbers import Marks, declared_marks
from protocontract.normalize.numerals import CONTROL, WHITE_SPACE, Number, fold
from protocontract.violations import OptionError, Refusal, describe

if TYPE_CHECKING:
    from protocontract.normalize.money_parse import Amount

Policy: TypeAlias = Literal["strict", "lenient"]
Scale: TypeAlias = Literal["currency", "any", "round_half_even", "round_half_up"]

MAX_LENGTH: Final = 1000
"""Code points of the longest text that is read as an amount."""


class Money(NamedTuple):
    """An amount: a plain decimal string (no exponent, no grouping) and its ISO 4217 code."""

    amount: str
    currency: str


class Found(NamedTuple):
    """An amount at code points [start, end) of a text, or why it cannot be read."""

    start: int
    end: int
    result: Money | Refusal


# What a kind of refusal is called outside, and what is said about it. {} is the kind and length of the value.
_SYNTAX, _CURRENCY, _AMBIGUOUS, _SCALE = "money.syntax", "money.currency", "money.ambiguous", "money.scale"
_KINDS: Final[dict[str, tuple[str, str]]] = {
    "not_text": (_SYNTAX, "not a text; expected an amount of money, got {}"),
    "too_long": (_SYNTAX, f"too long; expected an amount of at most {MAX_LENGTH} characters, got {{}}"),
    "empty": (_SYNTAX, "no amount; expected a number, got {}"),
    "no_amount": (_SYNTAX, "no amount; expected a number, got {}"),
    "malformed_number": (_SYNTAX, "malformed number; expected well-formed groups and one decimal mark, got {}"),
    "ambiguous_number": (_AMBIGUOUS, "two readings of {}; expected a number whose decimal mark can be told"),
    "percent": (_SYNTAX, "a percentage; expected an amount of money, got {}"),
    "range": (_SYNTAX, "a range; expected one amount, got {}"),
    "multiple_amounts": (_SYNTAX, "several numbers; expected one amount, got {}"),
    "exponent": (_SYNTAX, "an exponent; expected plain notation, got {}"),
    "magnitude": (_SYNTAX, "a multiplier; expected the number in full, got {}"),
    "sign": (_SYNTAX, "a sign that cannot be told; expected one minus next to the number, got {}"),
    "free_text": (_SYNTAX, "text beside the amount; expected a number and a currency, got {}"),
    "unknown_currency": (_CURRENCY, "unknown currency; expected an ISO 4217 code or its mark, got {}"),
    "obsolete_currency": (_CURRENCY, "a currency that was withdrawn; expected a code of today, got {}"),
    "currency_conflict": (_CURRENCY, "marks of different currencies; expected marks that agree, got {}"),
    "currency_not_allowed": (_CURRENCY, "a currency that is not allowed here, got {}"),
    "not_storable": (_CURRENCY, "a currency that currency_field has no value for, got {}"),
    "no_currency": (_CURRENCY, "no currency; expected a code or a mark, got {}"),
    "ambiguous_currency": (_AMBIGUOUS, "a mark that several currencies share; expected a code, got {}"),
    "scale": (_SCALE, "digits beyond the currency's minor unit, got {}"),
}


def refusal(kind: str, value: object) -> Refusal:
    """The refusal of one of ``_KINDS``; the value itself is not in it."""
    rule_id, message = _KINDS[kind]
    return Refusal(rule_id, message.format(describe(value)))


@dataclass(frozen=True, slots=True)
class Options:
    """Declared options, checked and in the form that reading needs."""

    lenient: bool
    default: str | None
    allowed: frozenset[str]  # empty: all of today's
    locale: str | None
    marks: Marks
    table: MarkTable
    scale: Scale
    sole: str | None  # the only possible currency where none is stored
    storable: frozenset[str]  # what the field that receives the code can hold; empty: all


def checked_options(
    policy: str,
    default_currency: str | None,
    allowed: Sequence[str] | None,
    locale: str | None,
    decimal: str | None,
    scale: str,
    sole_currency: str | None = None,
    storable: Sequence[str] | None = None,
) -> Options:
    """Raises OptionError for options that cannot be kept."""
    if scale not in {"currency", "any", "round_half_even", "round_half_up"}:
        raise OptionError("scale", f'unknown scale "{scale}"; expected currency, any, round_half_even or round_half_up')
    if isinstance(allowed, str):
        raise OptionError("allowed", "a text; expected a list of ISO 4217 codes")
    marks = declared_marks(policy=policy, locale=locale or None, decimal=decimal or None)
    default = currency_code(default_currency, "default_currency") if default_currency else None
    sole = currency_code(sole_currency, "sole_currency") if sole_currency else None
    return Options(
        lenient=marks.lenient,
        default=sole or default,
        allowed=frozenset(currency_code(code, "allowed") for code in allowed or ()),
        locale=locale or None,
        marks=marks,
        table=mark_table(locale or None),
        scale=scale,  # type: ignore[arg-type]
        sole=sole,
        storable=frozenset(storable or ()),
    )


# ----------------------------------------------------------------------------------------------------------------------
# Canonical amounts

CANONICAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_LONGEST_CANONICAL: Final = 40


def _exact(minor: int | None) -> re.Pattern[str]:
    """Canonical amounts with exactly the minor digits, short enough for the fast path; not the negative zeros."""
    fraction = "" if minor == 0 else r"(?:\.[0-9]+)?" if minor is None else rf"\.[0-9]{{{minor}}}"
    return re.compile(rf"(?!-0(?:\.0+)?\Z)-?(?:0|[1-9][0-9]{{0,{_LONGEST_CANONICAL}}}){fraction}")


EXACT: Final = {code: _exact(minor).fullmatch for code, minor in MINOR_DIGITS.items()}
"""By currency: matches an amount as it is written under any scale but ``any``."""


def bare_pattern(options: Options) -> Callable[[str], re.Match[str] | None] | None:
    """Which amounts without a code are canonical and have no other reading; None where none has."""
    default = options.default
    if default is None or options.scale == "any" or (options.allowed and default not in options.allowed):
        return None
    minor = MINOR_DIGITS[default]
    divides, groups = (".", "") if options.marks.free else options.marks.of(0x30)
    if minor is None or (minor == 3 and options.marks.free) or (minor and "." not in divides and not options.sole):
        return None
    if minor == 3 and "." in groups:
        return None
    return EXACT[default]


# ----------------------------------------------------------------------------------------------------------------------
# Reading


def read_amount(value: str, given: str | None, options: Options) -> Money | Refusal:
    """The amount that a text names. ``given`` is the code that is stored beside it, if there is one."""
    if not isinstance(value, str):
        return refusal("not_text", value)
    if len(value) > MAX_LENGTH:
        return refusal("too_long", value)
    if given is not None:
        given = given.upper() if given.islower() else given
        if given not in MINOR_DIGITS:
            return refusal("obsolete_currency" if given in WITHDRAWN else "unknown_currency", given)
        if CANONICAL.fullmatch(value):
            return finished(value, _canonical(value), value[0] == "-", given, options)
    text = value.strip(WHITE_SPACE)
    if not text:
        return refusal("empty", value)
    if CONTROL.search(text):
        return refusal("malformed_number", value)
    folded = fold(text)
    from protocontract.normalize.money_parse import parse, tokens  # with the first amount that is not clean

    amount = parse(folded.text, tokens(folded, options.marks, options.table), lenient=options.lenient)
    if isinstance(amount, str):
        return refusal("malformed_number" if folded.odd else amount, value)
    if folded.odd:
        return refusal("malformed_number", value)
    return in_currency(value, amount, given, options)


def in_currency(value: str, amount: Amount, given: str | None, options: Options) -> Money | Refusal:
    """The amount that was read from ``value``, in the currency that it is in."""
    code = resolve(amount.marks, given, options)
    if code not in MINOR_DIGITS:
        return refusal(code, value)
    if amount.trillion and code == "CNY":
        # In the mainland 兆 is also a million.
        return refusal("ambiguous_number", value)
    return finished(value, amount.number, amount.negative, code, options)


def _canonical(value: str) -> Number:
    whole, _, fraction = value.lstrip("-").partition(".")
    return Number(int(whole + fraction), len(fraction))


def resolve(marks: Sequence[Mark], given: str | None, options: Options) -> str:
    """The code that the marks mean, or the kind of refusal.

    In this order: a code in the text, the declared default if it is a candidate, the only candidate that is allowed,
    the currency of the locale's region, a primary reading.
    """
    meant = [mark.candidates for mark in marks]
    if given is not None:
        meant.append(frozenset({given}))
    if not meant:
        return options.default or "no_currency"
    candidates = frozenset.intersection(*meant)
    if not candidates:
        return "currency_conflict"
    if len(candidates) == 1:
        return next(iter(candidates))
    if options.default in candidates and options.default is not None:
        return options.default
    permitted = candidates & options.allowed
    if len(permitted) == 1:
        return next(iter(permitted))
    if options.locale:
        regional = candidates & region_currencies(options.locale)
        if len(regional) == 1:
            return next(iter(regional))
    primary = {mark.primary for mark in marks if mark.primary in candidates}
    (reading,) = primary if len(primary) == 1 else (None,)
    return reading or "ambiguous_currency"


def finished(value: str, number: Number, negative: bool, code: str, options: Options) -> Money | Refusal:
    """Check ``allowed`` and the scale, and write the amount."""
    if options.allowed and code not in options.allowed:
        return refusal("currency_not_allowed", value)
    if options.storable and code not in options.storable:
        return refusal("not_storable", value)
    minor = MINOR_DIGITS[code]
    if options.scale != "any" and minor is not None:
        scaled = _scaled(number, minor, options.scale)
        if scaled is None:
            return refusal("scale", value)
        number = scaled
    amount = number.text(negative=negative)
    return Money(value if amount == value else amount, code)


def _scaled(number: Number, digits: int, scale: Scale) -> Number | None:
    """The number with exactly ``digits`` fraction digits; None where ``currency`` forbids to drop what is not zero."""
    excess = number.scale - digits
    if excess <= 0:
        return Number(number.units * 10**-excess, digits)
    units, rest = divmod(number.units, 10**excess)
    if rest:
        if scale == "currency":
            return None
        half = 5 * 10 ** (excess - 1)
        if rest > half or (rest == half and (scale == "round_half_up" or units % 2)):
            units += 1
    return Number(units, digits)
