"""Amounts of money: what people write, as a plain decimal string and an ISO 4217 code.

The policies are those of the table in ``docs/normalizers.md``; what can be read in two ways is refused. Amounts are
exact: no float on the way. Locales and regions come from CLDR through Babel, which is imported only where a locale is
declared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

from protocontract.normalize.money_currency import MINOR_DIGITS, WITHDRAWN, currency_code, region_currencies
from protocontract.normalize.money_marks import Mark, MarkTable, mark_table
from protocontract.normalize.money_parse import Amount, parse, tokens
from protocontract.normalize.numbers import Marks, declared_marks
from protocontract.normalize.numerals import CONTROL, WHITE_SPACE, Number, fold
from protocontract.violations import Change, Normalized, OptionError, Refusal, Refused, describe

Policy: TypeAlias = Literal["strict", "lenient"]
Scale: TypeAlias = Literal["currency", "any", "round_half_even", "round_half_up"]

MAX_LENGTH: Final = 1000
"""Code points of the longest text that is read as an amount."""


class Money(NamedTuple):
    """An amount: a plain decimal string (no exponent, no grouping) and its ISO 4217 code."""

    amount: str
    currency: str


MoneyNormalizer: TypeAlias = Callable[..., Money | Refusal]
"""``(value: str, currency: str | None = None) -> Money | Refusal``"""

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
    "no_currency": (_CURRENCY, "no currency; expected a code or a mark, got {}"),
    "ambiguous_currency": (_AMBIGUOUS, "a mark that several currencies share; expected a code, got {}"),
    "scale": (_SCALE, "digits beyond the currency's minor unit, got {}"),
}


def _refusal(kind: str, value: object) -> Refusal:
    rule_id, message = _KINDS[kind]
    return Refusal(rule_id, message.format(describe(value)))


@dataclass(frozen=True, slots=True)
class _Options:
    """Declared options, checked and in the form that reading needs."""

    lenient: bool
    default: str | None
    allowed: frozenset[str]  # empty: all of today's
    locale: str | None
    marks: Marks
    table: MarkTable
    scale: Scale
    sole: str | None


def _checked(
    policy: str, default_currency: str | None, allowed: Sequence[str] | None, locale: str | None, decimal: str | None,
    scale: str, sole_currency: str | None,
) -> _Options:
    if scale not in {"currency", "any", "round_half_even", "round_half_up"}:
        raise OptionError("scale", f'unknown scale "{scale}"; expected currency, any, round_half_even or round_half_up')
    if isinstance(allowed, str):
        raise OptionError("allowed", "a text; expected a list of ISO 4217 codes")
    marks = declared_marks(policy=policy, locale=locale or None, decimal=decimal or None)
    default = currency_code(default_currency, "default_currency") if default_currency else None
    sole = currency_code(sole_currency, "sole_currency") if sole_currency else None
    return _Options(
        lenient=marks.lenient,
        default=sole or default,
        allowed=frozenset(currency_code(code, "allowed") for code in allowed or ()),
        locale=locale or None,
        marks=marks,
        table=mark_table(locale or None),
        scale=scale,  # type: ignore[arg-type]
        sole=sole,
    )


# ----------------------------------------------------------------------------------------------------------------------
# Public functions


def normalize(
    value: str,
    *,
    policy: Policy = "strict",
    default_currency: str | None = None,
    allowed: Sequence[str] | None = None,
    locale: str | None = None,
    decimal: Literal[".", ","] | None = None,
    scale: Scale = "currency",
) -> Normalized[Money]:
    """The amount and currency that a text names.

    Raises Refused (``money.syntax``, ``money.currency``, ``money.ambiguous``, ``money.scale``) where it names none, or
    more than one reading is possible; OptionError where an option cannot be kept.
    """
    result = normalizer(
        policy=policy, default_currency=default_currency, allowed=allowed, locale=locale, decimal=decimal, scale=scale
    )(value)
    if isinstance(result, Refusal):
        raise Refused.of(result)
    if result.amount == value:
        return Normalized(result)
    return Normalized(result, (Change("", "money", value, result),))


def normalizer(
    *,
    policy: Policy = "strict",
    default_currency: str | None = None,
    allowed: Sequence[str] | None = None,
    locale: str | None = None,
    decimal: Literal[".", ","] | None = None,
    scale: Scale = "currency",
    sole_currency: str | None = None,
) -> MoneyNormalizer:
    """The non-raising twin of ``normalize`` for options that never change.

    The function returned takes ``(value, currency=None)``. ``currency`` is the code that already stands in
    ``currency_field``: with it, a canonical amount is kept before locale and default are looked at. ``sole_currency``
    is for contracts without ``currency_field`` (see ``check_options``): the default, and an amount with exactly its
    minor digits is kept likewise. ``result.amount is value`` where nothing changed.

    Raises OptionError.
    """
    options = _checked(policy, default_currency, allowed, locale, decimal, scale, sole_currency)
    bare = _bare_pattern(options)
    default, permitted, exact = options.default or "", options.allowed, options.scale != "any"

    def normalize_money(value: str, currency: str | None = None) -> Money | Refusal:
        # Clean values first: one regular expression and no other work.
        if not currency:
            if bare is not None and type(value) is str and bare(value):
                return Money(value, default)
        elif exact and type(value) is str:
            pattern = _EXACT.get(currency)
            if pattern is not None and pattern(value) and (not permitted or currency in permitted):
                return Money(value, currency)
        return _read(value, currency or None, options)

    return normalize_money


def check_options(
    *,
    policy: Policy = "strict",
    default_currency: str | None = None,
    allowed: Sequence[str] | None = None,
    locale: str | None = None,
    decimal: Literal[".", ","] | None = None,
    scale: Scale = "currency",
    has_currency_field: bool,
) -> str | None:
    """Check the options of a contract's field; returns the ``sole_currency`` for ``normalizer``, or None.

    Without ``currency_field`` nothing stores the code, so ``allowed`` must name exactly one, and what the normalizer
    writes must be read back as the same amount: a locale that groups with a full stop would read ``1.234`` as 1234.

    Raises OptionError.
    """
    options = _checked(policy, default_currency, allowed, locale, decimal, scale, None)
    if options.default and options.allowed and options.default not in options.allowed:
        raise OptionError("default_currency", f'"{options.default}" is not among the allowed currencies')
    if has_currency_field:
        return None
    if len(options.allowed) != 1:
        raise OptionError(
            "currency_field",
            "nothing stores the currency code; expected currency_field, or exactly one currency in allowed",
        )
    (sole,) = options.allowed
    groups_with_stop = not options.marks.free and "." in options.marks.of(0x30)[1]
    if groups_with_stop and (options.scale == "any" or MINOR_DIGITS[sole] in (3, None)):
        raise OptionError(
            "decimal" if decimal else "locale",
            "it groups with a full stop, so that an amount with three digits after the point would be read again as "
            "another; expected currency_field, or scale CURRENCY and a currency without three minor digits",
        )
    return sole


# ----------------------------------------------------------------------------------------------------------------------
# Canonical amounts

_CANONICAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_LONGEST_CANONICAL: Final = 40


def _exact(minor: int | None) -> re.Pattern[str]:
    """Canonical amounts with exactly the minor digits, short enough for the fast path; not the negative zeros."""
    fraction = "" if minor == 0 else r"(?:\.[0-9]+)?" if minor is None else rf"\.[0-9]{{{minor}}}"
    return re.compile(rf"(?!-0(?:\.0+)?\Z)-?(?:0|[1-9][0-9]{{0,{_LONGEST_CANONICAL}}}){fraction}")


_EXACT: Final = {code: _exact(minor).fullmatch for code, minor in MINOR_DIGITS.items()}


def _bare_pattern(options: _Options) -> Callable[[str], object] | None:
    """Which amounts without a code are canonical and have no other reading; None where none has."""
    default = options.default
    if default is None or options.scale == "any" or (options.allowed and default not in options.allowed):
        return None
    minor = MINOR_DIGITS[default]
    divides = "." if options.marks.free else options.marks.of(0x30)[0]
    if minor is None or (minor == 3 and options.marks.free) or (minor and "." not in divides and not options.sole):
        return None
    if minor == 3 and "." not in divides:
        return None
    return _EXACT[default]


# ----------------------------------------------------------------------------------------------------------------------
# Reading


def _read(value: str, given: str | None, options: _Options) -> Money | Refusal:
    if not isinstance(value, str):
        return _refusal("not_text", value)
    if len(value) > MAX_LENGTH:
        return _refusal("too_long", value)
    if given is not None:
        given = given.upper() if given.islower() else given
        if given not in MINOR_DIGITS:
            return _refusal("obsolete_currency" if given in WITHDRAWN else "unknown_currency", given)
        if _CANONICAL.fullmatch(value):
            return _finished(value, _canonical(value), value[0] == "-", given, options)
    text = value.strip(WHITE_SPACE)
    if not text:
        return _refusal("empty", value)
    if CONTROL.search(text):
        return _refusal("malformed_number", value)
    folded = fold(text)
    amount = parse(folded.text, tokens(folded, options.marks, options.table), lenient=options.lenient)
    if isinstance(amount, str):
        return _refusal("malformed_number" if folded.odd else amount, value)
    if folded.odd:
        return _refusal("malformed_number", value)
    code = resolve(amount.marks, given, options)
    if code not in MINOR_DIGITS:
        return _refusal(code, value)
    if amount.trillion and code == "CNY":
        return _refusal("ambiguous_number", value)
    return _finished(value, amount.number, amount.negative, code, options)


def _canonical(value: str) -> Number:
    whole, _, fraction = value.lstrip("-").partition(".")
    return Number(int(whole + fraction), len(fraction))


def resolve(marks: Sequence[Mark], given: str | None, options: _Options) -> str:
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
    return primary.pop() or "ambiguous_currency" if len(primary) == 1 else "ambiguous_currency"


def _finished(value: str, number: Number, negative: bool, code: str, options: _Options) -> Money | Refusal:
    """Check ``allowed`` and the scale, and write the amount."""
    if options.allowed and code not in options.allowed:
        return _refusal("currency_not_allowed", value)
    minor = MINOR_DIGITS[code]
    if options.scale != "any" and minor is not None:
        scaled = _scaled(number, minor, options.scale)
        if scaled is None:
            return _refusal("scale", value)
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


__all__ = [
    "MAX_LENGTH", "Amount", "Money", "MoneyNormalizer", "check_options", "normalize", "normalizer",
]
