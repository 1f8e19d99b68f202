"""Amounts of money: what people write, as a plain decimal string and an ISO 4217 code.

The policies are those of the table in ``docs/normalizers.md``; what can be read in two ways is refused. Amounts are
exact: no float on the way. Locales and regions come from CLDR through Babel, which is imported only where a locale is
declared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from protocontract.normalize.money_core import (
    EXACT,
    MAX_LENGTH,
    Found,
    Money,
    Policy,
    Scale,
    bare_pattern,
    checked_options,
    read_amount,
    refusal,
)
from protocontract.normalize.money_currency import MINOR_DIGITS
from protocontract.violations import Change, Normalized, OptionError, Refusal, Refused


class MoneyNormalizer(Protocol):
    """What ``normalizer`` returns."""

    def __call__(self, value: str, currency: str | None = None) -> Money | Refusal:
        """The amount that ``value`` names; ``currency`` is the code already stored beside it."""
        ...


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
    storable: Sequence[str] | None = None,
) -> MoneyNormalizer:
    """The non-raising twin of ``normalize`` for options that never change.

    The function returned takes ``(value, currency=None)``. ``currency`` is the code that already stands in
    ``currency_field``: with it, a canonical amount is kept before locale and default are looked at. ``sole_currency``
    is for contracts without ``currency_field`` (see ``check_options``): the default, and an amount with exactly its
    minor digits is kept likewise. ``storable`` names the codes for which an enum ``currency_field`` has a value: other
    currencies are refused, but unlike ``allowed`` it decides no mark. ``result.amount is value`` where nothing changed.

    Raises OptionError.
    """
    options = checked_options(policy, default_currency, allowed, locale, decimal, scale, sole_currency, storable)
    bare = bare_pattern(options)
    default, permitted, exact = options.default or "", options.allowed, options.scale != "any"

    # Built as the generated __new__ of a named tuple does, without the call of a Python function.
    make = tuple.__new__

    def normalize_money(value: str, currency: str | None = None) -> Money | Refusal:
        # Clean values first: one regular expression and no other work.
        if not currency:
            if bare is not None and type(value) is str and bare(value):
                return make(Money, (value, default))
        elif exact and type(value) is str:
            pattern = EXACT.get(currency)
            if pattern is not None and pattern(value) and (not permitted or currency in permitted):
                return make(Money, (value, currency))
        return read_amount(value, currency or None, options)

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

    Without ``currency_field`` nothing stores the code, so ``allowed`` must name exactly one (which a default must
    equal), and what the normalizer writes must be read back as the same amount: a locale that groups with a full stop
    would read ``1.234`` as 1234.

    Raises OptionError.
    """
    options = checked_options(policy, default_currency, allowed, locale, decimal, scale)
    if has_currency_field:
        # A default outside of `allowed` can be kept here: it refuses every amount that does not say what it is in.
        return None
    if len(options.allowed) != 1:
        raise OptionError(
            "currency_field",
            "nothing stores the currency code; expected currency_field, or exactly one currency in allowed",
        )
    (sole,) = options.allowed
    if options.default not in (None, sole):
        raise OptionError("default_currency", f'"{options.default}" is not among the allowed currencies')
    groups_with_stop = not options.marks.free and "." in options.marks.of(0x30)[1]
    if groups_with_stop and (options.scale == "any" or MINOR_DIGITS[sole] in (3, None)):
        raise OptionError(
            "decimal" if decimal else "locale",
            "it groups with a full stop, so that an amount with three digits after the point would be read again as "
            "another; expected currency_field, or scale CURRENCY and a currency without three minor digits",
        )
    return sole


def finder(
    *,
    policy: Policy = "strict",
    default_currency: str | None = None,
    allowed: Sequence[str] | None = None,
    locale: str | None = None,
    decimal: Literal[".", ","] | None = None,
    scale: Scale = "currency",
) -> Callable[[str], list[Found]]:
    """``find`` for options that never change. Raises OptionError."""
    # Running text is rare; the search for amounts in it is not loaded with every contract that has one.
    from protocontract.normalize.money_find import find_amounts

    options = checked_options(policy, default_currency, allowed, locale, decimal, scale)

    def find_money(text: str) -> list[Found]:
        return find_amounts(text, options)

    return find_money


def find(
    text: str,
    *,
    policy: Policy = "strict",
    default_currency: str | None = None,
    allowed: Sequence[str] | None = None,
    locale: str | None = None,
    decimal: Literal[".", ","] | None = None,
    scale: Scale = "currency",
) -> list[Found]:
    """The amounts inside a running text, from left to right: numbers with an unmistakable currency mark beside them.

    What is an amount but cannot be read in one way only has a Refusal as its result. The standard form,
    ``CNY 1000.00``, is found as itself under all options. Raises Refused where ``text`` is no text, and OptionError.
    """
    found = finder(
        policy=policy, default_currency=default_currency, allowed=allowed, locale=locale, decimal=decimal, scale=scale
    )
    if not isinstance(text, str):
        raise Refused.of(refusal("not_text", text))
    return found(text)


__all__ = [
    "MAX_LENGTH",
    "Found",
    "Money",
    "MoneyNormalizer",
    "check_options",
    "find",
    "finder",
    "normalize",
    "normalizer",
]
