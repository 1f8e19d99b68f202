"""Quantities: a number and a unit, as an exact number in the canonical unit.

Numbers are read as in ``money`` (marks by locale or declaration, what can be read in two ways is refused); units are
Pint's, converted with fractions. Pint is imported where a unit has to be looked up, not for bare numbers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal, TypeAlias

from protocontract.normalize.numbers import MINUS_WORDS, NUMBER_RUN, Marks, declared_marks, read
from protocontract.normalize.numerals import BIDI_MARKS, CONTROL, GAP, WHITE_SPACE, Number, fold
from protocontract.normalize.quantity_units import Conversion, Unit, UnitError, conversion, parse_unit, same_dimension
from protocontract.violations import Change, Normalized, OptionError, Refusal, Refused, describe

Quantity: TypeAlias = str | int | float | Decimal
"""What is read, and what comes back: the value itself where nothing changed, else a Decimal (a str for ``as_text``)."""
QuantityNormalizer: TypeAlias = Callable[[Quantity], Quantity | Refusal]

MAX_LENGTH: Final = 200
"""Code points of the longest text that is read as a quantity."""
_MOST_PLACES: Final = 60
_MOST_SCALE: Final = 60
_MOST_WORDS: Final = 4
# A number after white space, a mark or a dash that is no exponent's sign: "5 ft 3 in", "5-6 m", "5 kg (11 lb)".
_SECOND_NUMBER: Final = re.compile(r"(?:^|[\s,;:(\[~=–])[+-]?[.,]?[0-9](?!/)|^-")
# Words in front of the number, which lenient reading drops; what touches the number is not one of them.
_WORDS: Final = re.compile(r"[^0-9]*(?<![-–])[\s:](?=[+-]?[.,]?[0-9])")
# What may be a sign, in front of words.
_SIGN: Final = re.compile(r"(?:^|[\s(])[-–—]")
_EXPONENT: Final = re.compile(r"[eE]([+-]?[0-9]+)(?![\w])")
_CANONICAL: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?")

_RULES: Final[dict[str, tuple[str, str]]] = {
    "not_quantity": ("quantity.syntax", "not a quantity; expected a text or a number, got {}"),
    "too_long": ("quantity.syntax", f"too long; expected at most {MAX_LENGTH} characters, got {{}}"),
    "not_finite": ("quantity.syntax", "not a finite number; expected a number with an end, got {}"),
    "no_amount": ("quantity.syntax", "no number; expected a number and a unit, got {}"),
    "malformed_number": (
        "quantity.syntax",
        "malformed number; expected well-formed groups and one decimal mark, got {}",
    ),
    "ambiguous_number": ("quantity.ambiguous", "two readings of {}; expected a number whose decimal mark can be told"),
    "sign": ("quantity.syntax", "a sign that cannot be told; expected one minus next to the number, got {}"),
    "exponent": ("quantity.syntax", "an exponent; expected plain notation, got {}"),
    "several": ("quantity.syntax", "several numbers; expected one number and a unit, got {}"),
    "unit": ("quantity.unit", "unknown unit; expected a unit such as {unit}, got {}"),
    "not_allowed": ("quantity.unit", "a unit that is not allowed here, got {}"),
    "dimension": ("quantity.dimension", "a unit of another dimension; expected one that converts to {unit}, got {}"),
    "scale": ("quantity.scale", "a conversion without a finite decimal result; declare scale to round it, got {}"),
}


def normalize(
    value: Quantity,
    *,
    unit: str,
    allowed: Sequence[str] | None = None,
    policy: Literal["strict", "lenient"] = "strict",
    locale: str | None = None,
    decimal: Literal[".", ","] | None = None,
    scale: int | None = None,
) -> Normalized[Quantity]:
    """The number of ``unit`` that a text or number stands for; a bare number is in ``unit``.

    Raises Refused (``quantity.syntax``, ``.unit``, ``.dimension``, ``.ambiguous``, ``.scale``), and OptionError where
    an option cannot be kept.
    """
    result = normalizer(unit=unit, allowed=allowed, policy=policy, locale=locale, decimal=decimal, scale=scale)(value)
    if isinstance(result, Refusal):
        raise Refused.of(result)
    if result is value:
        return Normalized(result)
    return Normalized(result, (Change("", "quantity", value, result),))


def normalizer(
    *,
    unit: str,
    allowed: Sequence[str] | None = None,
    policy: Literal["strict", "lenient"] = "strict",
    locale: str | None = None,
    decimal: Literal[".", ","] | None = None,
    scale: int | None = None,
    as_text: bool = False,
    lazy: bool = False,
) -> QuantityNormalizer:
    """The non-raising twin of ``normalize`` for options that never change.

    It returns the value itself where nothing changed, else a Decimal; with ``as_text`` (for text fields) the plain
    text of it. ``lazy`` puts off looking up the units, and so importing Pint, until a value has a unit: for generated
    code, whose options the compiler has checked.

    Raises OptionError.
    """
    options = _Options(unit, allowed, policy, locale or None, decimal or None, scale)
    if not lazy:
        options.look_up()

    def normalize_quantity(value: Quantity) -> Quantity | Refusal:
        result = _read(value, options)
        if isinstance(result, Refusal) or result is value:
            return result
        if as_text and isinstance(result, Decimal):
            text = f"{result:f}"
            return value if text == value else text
        return result

    return normalize_quantity


def check_options(
    *,
    unit: str,
    allowed: Sequence[str] | None = None,
    policy: Literal["strict", "lenient"] = "strict",
    locale: str | None = None,
    decimal: Literal[".", ","] | None = None,
    scale: int | None = None,
    is_text: bool = False,
) -> None:
    """Check the options of a contract's field.

    ``is_text`` is for a text field that receives the result itself (no ``value_field``): what is written there must be
    read back as the same number, so a full stop must divide, by ``decimal`` or by the locale.

    Raises OptionError.
    """
    options = _Options(unit, allowed, policy, locale or None, decimal or None, scale)
    options.look_up()
    if is_text and (options.marks.free or "." not in options.marks.of(0x30)[0]):
        raise OptionError(
            "decimal",
            "the result is written with a full stop and could be read again as another number; expected "
            'decimal ".", a locale that divides with a full stop, or value_field',
        )


class _Options:
    """Declared options; units are looked up when they are first needed."""

    __slots__ = ("_allowed_texts", "_units", "marks", "scale", "unit_text")

    def __init__(
        self,
        unit: str,
        allowed: Sequence[str] | None,
        policy: str,
        locale: str | None,
        decimal: str | None,
        scale: int | None,
    ) -> None:
        if not isinstance(unit, str) or not unit:
            raise OptionError("unit", 'no unit; expected the canonical unit such as "km"')
        if isinstance(allowed, str):
            raise OptionError("allowed", "a text; expected a list of units")
        if scale is not None and not (type(scale) is int and 0 <= scale <= _MOST_SCALE):
            raise OptionError("scale", f"not a number of digits; expected 0 to {_MOST_SCALE}")
        self.marks: Marks = declared_marks(policy=policy, locale=locale, decimal=decimal)
        self.scale = scale
        self.unit_text = unit
        self._allowed_texts = tuple(allowed or ())
        self._units: tuple[Unit, frozenset[Unit]] | None = None

    def look_up(self) -> tuple[Unit, frozenset[Unit]]:
        """The canonical unit and the allowed ones (empty: all). Raises OptionError."""
        if self._units is None:
            target = _unit_option(self.unit_text, "unit")
            allowed = frozenset(_unit_option(text, "allowed") for text in self._allowed_texts)
            for text, unit in zip(self._allowed_texts, map(parse_unit, self._allowed_texts), strict=True):
                if not same_dimension(unit, target):
                    raise OptionError("allowed", f'"{text}" does not convert to "{self.unit_text}"')
                if self.scale is None and not _converts(unit, target, text).finite:
                    raise OptionError(
                        "scale", f'no finite decimal leads from "{text}" to "{self.unit_text}"; expected scale'
                    )
            self._units = (target, allowed | {target} if allowed else allowed)
        return self._units


def _unit_option(text: str, option: str) -> Unit:
    try:
        return parse_unit(text)
    except UnitError as error:
        raise OptionError(option, f'unknown unit "{text}": {error}') from None


def _converts(source: Unit, target: Unit, text: str) -> Conversion:
    try:
        return conversion(source, target)
    except UnitError as error:
        raise OptionError("allowed", f'"{text}": {error}') from None


# ----------------------------------------------------------------------------------------------------------------------
# Reading


def _refusal(kind: str, value: object, options: _Options) -> Refusal:
    rule_id, message = _RULES[kind]
    return Refusal(rule_id, message.format(describe(value), unit=options.unit_text))


def _read(value: Quantity, options: _Options) -> Quantity | Refusal:
    if isinstance(value, str):
        return _read_text(value, options)
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return _refusal("not_quantity", value, options)
    if isinstance(value, int):
        return value
    if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
        return _refusal("not_finite", value, options)
    if options.scale is None:
        return value
    # A double stands for the shortest number that reads back as it, which is what was written.
    exact = Decimal(repr(value)) if isinstance(value, float) else value
    rounded = _rounded(Fraction(exact), options.scale)
    return value if rounded == exact else rounded


def _read_text(value: str, options: _Options) -> Quantity | Refusal:
    if len(value) > MAX_LENGTH:
        return _refusal("too_long", value, options)
    text = value.strip(WHITE_SPACE + BIDI_MARKS)
    if CONTROL.search(text):
        return _refusal("malformed_number", value, options)
    folded = fold(text)
    text = folded.text
    start = 0
    if options.marks.lenient:
        words = _WORDS.match(text)
        if words is not None:
            start = words.end()
            dropped = words.group()
            if _SIGN.search(dropped) or not MINUS_WORDS.isdisjoint(dropped.casefold().split()):
                return _refusal("sign", value, options)
    sign = text[start : start + 1]
    negative = sign == "-"
    if sign and sign in "+-":
        start += 1
    run = NUMBER_RUN.match(text, start)
    if run is None:
        return _refusal("no_amount", value, options)
    zero = folded.zero_of(start, run.end())
    number = "malformed_number" if zero is None else read(run.group(), options.marks, zero)
    if isinstance(number, str):
        return _refusal(number, value, options)
    end = run.end()
    exponent = _EXPONENT.match(text, end)
    if exponent:
        places = exponent.group(1)
        if not options.marks.lenient or len(places.lstrip("+-0")) > 2 or abs(int(places)) > _MOST_PLACES:
            return _refusal("exponent", value, options)
        number, end = number.shifted(int(places)), exponent.end()
    unit_text = text[end:].strip(" " + GAP)
    if _SECOND_NUMBER.search(unit_text):
        return _refusal("several", value, options)
    if options.marks.lenient and unit_text != options.unit_text:
        unit_text = _without_words(unit_text)
    exact = Fraction(-number.units if negative else number.units, 10**number.scale)
    if not unit_text or unit_text == options.unit_text:
        if options.scale is None:
            return Decimal(number.text(negative=negative))
        return _rounded(exact, options.scale)
    return _converted(value, exact, unit_text, options)


def _without_words(unit_text: str) -> str:
    """The unit at the beginning of a text that goes on: "kg netto". All of it where it begins with none."""
    words = unit_text.split()
    for count in range(min(len(words), _MOST_WORDS), 0, -1):
        piece = " ".join(words[:count]).rstrip(".,;!")
        try:
            parse_unit(piece)
        except UnitError:
            continue
        return piece
    return unit_text


def _converted(value: str, exact: Fraction, unit_text: str, options: _Options) -> Quantity | Refusal:
    target, allowed = options.look_up()
    try:
        unit = parse_unit(unit_text)
        if not same_dimension(unit, target):
            return _refusal("dimension", value, options)
        if allowed and unit not in allowed:
            return _refusal("not_allowed", value, options)
        way = conversion(unit, target)
    except UnitError:
        return _refusal("unit", value, options)
    if options.scale is None and not way.finite:
        return _refusal("scale", value, options)
    image = exact * way.factor + way.offset
    return _decimal(image) if options.scale is None else _rounded(image, options.scale)


def _rounded(exact: Fraction, scale: int) -> Decimal:
    """Rounded to ``scale`` digits after the point, half even."""
    units = round(exact * 10**scale)
    return Decimal(Number(abs(units), scale).text(negative=units < 0))


def _decimal(exact: Fraction) -> Decimal:
    """A fraction whose denominator has no prime but 2 and 5, in plain notation without superfluous zeros."""
    scale = 0
    while (exact * 10**scale).denominator != 1:
        scale += 1
    units = int(exact * 10**scale)
    return Decimal(Number(abs(units), scale).text(negative=units < 0))


__all__ = ["MAX_LENGTH", "Quantity", "QuantityNormalizer", "check_options", "normalize", "normalizer"]
