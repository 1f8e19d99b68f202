"""Units of measurement: their spelling, and exact conversion between them.

Definitions are Pint's, computed with fractions; Pint is imported on first use and one registry is kept. Text of users
is never evaluated: a small grammar (names, exponents, ``*``, ``/``) reads it, and only single names are looked up.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from pint import UnitRegistry
    from pint.util import UnitsContainer

# Bounds that no unit in use comes near: a text cannot ask for 10**(10**9).
_LONGEST: Final = 80
_MOST_FACTORS: Final = 8
_HIGHEST_POWER: Final = 12
# A factor with more digits than this stems from an approximated constant (pi), however finite it looks.
_EXACT_DIGITS: Final = 40

_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SUPERSCRIPT_RUN: Final = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+")
# Signs that are units by themselves, compatibility characters, and the Chinese names of common units.
ALIASES: Final = {
    "℃": "degC",
    "℉": "degF",
    "°": "degree",
    "º": "degree",
    "′": "arcminute",
    "″": "arcsecond",
    "K": "K",
    "Ω": "ohm",
    "Å": "angstrom",
    "㎏": "kg",
    "㎎": "mg",
    "㎞": "km",
    "㎝": "cm",
    "㎜": "mm",
    "㎖": "mL",
    "㎡": "m^2",
    "㎥": "m^3",
    "公斤": "kg",
    "千克": "kg",
    "克": "g",
    "毫克": "mg",
    "吨": "t",
    "噸": "t",
    "米": "m",
    "公里": "km",
    "千米": "km",
    "厘米": "cm",
    "公分": "cm",
    "毫米": "mm",
    "升": "L",
    "公升": "L",
    "毫升": "mL",
    "小时": "h",
    "小時": "h",
    "分钟": "min",
    "分鐘": "min",
    "秒": "s",
    "毫秒": "ms",
    "天": "day",
    "摄氏度": "degC",
    "攝氏度": "degC",
    "平方米": "m^2",
    "立方米": "m^3",
    "千瓦时": "kWh",
    "度": "",
}
_OPERATOR: Final = re.compile(r"\s*(/|\*(?!\*)|·|⋅|×|\bper\b)\s*|\s+")
_FACTOR: Final = re.compile(r"(?P<name>[^\s/*·⋅×^0-9+-]+)(?:\^|\*\*)?(?P<power>[+-]?[0-9]{1,3})")


class UnitError(ValueError):
    """A text that names no unit that can be converted exactly. The message does not quote it."""


class Unit(NamedTuple):
    """A unit as Pint's canonical names with their exponents, sorted: the same for every spelling."""

    factors: tuple[tuple[str, int], ...]

    def container(self) -> UnitsContainer:
        """The same for Pint."""
        return _registry().UnitsContainer(dict(self.factors))


class Conversion(NamedTuple):
    """``value * factor + offset`` gives the value in the other unit."""

    factor: Fraction
    offset: Fraction

    @property
    def finite(self) -> bool:
        """Whether every decimal number has an image that is a finite decimal, exactly."""
        return _is_decimal(self.factor) and _is_decimal(self.offset)


class _Pint(NamedTuple):
    registry: UnitRegistry[Any]
    names: frozenset[str]
    """The units that it defines. Looking up a prefixed one (gigameter) adds it, so that it could be prefixed again
    from then on; what a text means must not depend on the texts before it."""


@lru_cache(maxsize=1)
def _pint() -> _Pint:
    from pint import UnitRegistry

    # Pint documents Decimal and Fraction here; its annotation knows float alone.
    registry: UnitRegistry[Any] = UnitRegistry(non_int_type=Fraction)  # pyright: ignore[reportArgumentType]
    return _Pint(registry, frozenset(dir(registry)))


def load_units() -> None:
    """Import Pint and read its definitions, which the first unit would wait for; nothing where that was done."""
    _pint()


def _registry() -> UnitRegistry[Any]:
    return _pint().registry


def _is_decimal(fraction: Fraction) -> bool:
    denominator = fraction.denominator
    for prime in (2, 5):
        while denominator % prime == 0:
            denominator //= prime
    return denominator == 1 and len(str(fraction.numerator).strip("-0")) <= _EXACT_DIGITS


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """The unit that a text names: ``km``, ``m/s``, ``kg*m^2``, ``m2``, ``µg``, ``°C``.

    Raises UnitError.
    """
    if not text or len(text) > _LONGEST:
        raise UnitError("no unit, or a text too long to be one")
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run.group().translate(_SUPERSCRIPTS), text.strip())
    powers: dict[str, int] = {}
    sign, at, count = 1, 0, 0
    if text.startswith("1/"):
        sign, at = -1, 2
    while True:
        end = _OPERATOR.search(text, at)
        piece = text[at : end.start() if end else len(text)]
        for name, power in _factors(piece):
            powers[name] = powers.get(name, 0) + sign * power
        count += 1
        if end is None:
            break
        if count == _MOST_FACTORS:
            raise UnitError("too many factors")
        # As in speech, a stroke divides by what follows it only: m/s*s is (m/s)*s.
        sign = -1 if end.group(1) in ("/", "per") else 1
        at = end.end()
    factors = tuple(sorted((name, power) for name, power in powers.items() if power))
    if len(factors) > 1 or any(power != 1 for _, power in factors):
        factors = tuple((_difference(name), power) for name, power in factors)
    return Unit(factors)


def _factors(piece: str) -> tuple[tuple[str, int], ...]:
    """One factor: a name, and its exponent if it has one. A name may itself end in digits (mmH2O)."""
    alias = ALIASES.get(piece)
    if alias is not None:
        if not alias:
            raise UnitError("a unit with several meanings")
        piece = alias
    if piece == "dimensionless":
        return ()
    name = _lookup(piece)
    if name is not None:
        return ((name, 1),)
    match = _FACTOR.fullmatch(piece)
    if match is None:
        raise UnitError("unknown unit")
    power = int(match["power"])
    base = ALIASES.get(match["name"], match["name"])
    name = _lookup(base)
    if name is None or not power or abs(power) > _HIGHEST_POWER:
        raise UnitError("unknown unit")
    return ((name, power),)


def _lookup(name: str) -> str | None:
    """Pint's canonical name. Only names get here: no text with an operator, a digit in front, or brackets."""
    if not re.fullmatch(r"[^\W\d]\w*|[%‰]|°[A-Za-z]+|Δ°[A-Za-z]+", name):
        return None
    registry, names = _pint()
    candidates = [each for each in registry.parse_unit_name(name, case_sensitive=True) if each[1] in names]
    if not candidates:
        return None
    prefix, unit, _ = min(candidates, key=lambda candidate: bool(candidate[0]))
    try:
        return str(registry.get_name(prefix + unit, case_sensitive=True)) or None
    except TypeError:
        # Pint's refusal of a prefix before a unit with an offset, or a logarithmic one: kdegC, mdB.
        return None


def _difference(name: str) -> str:
    """Inside a compound, a unit with an offset (degC) can only mean a difference."""
    registry = _registry()
    unit = Unit(((name, 1),))
    try:
        zero = registry.Quantity(Fraction(0), unit.container()).to_base_units().magnitude
    except (ValueError, TypeError, ArithmeticError) as error:
        raise UnitError("a unit that has no exact conversion") from error
    return f"delta_{name}" if zero else name


def same_dimension(one: Unit, other: Unit) -> bool:
    """Whether the two units measure the same kind of quantity."""
    registry = _registry()
    return bool(registry.get_dimensionality(one.container()) == registry.get_dimensionality(other.container()))


@lru_cache(maxsize=1024)
def conversion(source: Unit, target: Unit) -> Conversion:
    """How to get from one unit to another of the same dimension.

    Raises UnitError where the way is not ``factor`` and ``offset`` (decibels), or not rational.
    """
    registry = _registry()
    images: list[Fraction] = []
    for probe in (0, 1, 2):
        try:
            image = registry.Quantity(Fraction(probe), source.container()).to(target.container()).magnitude
        except (ValueError, TypeError, ArithmeticError) as error:
            raise UnitError("a unit that has no exact conversion") from error
        if not isinstance(image, Fraction | int):
            raise UnitError("a unit that has no exact conversion")
        images.append(Fraction(image))
    factor = images[1] - images[0]
    if images[2] - images[1] != factor:
        raise UnitError("a unit that has no exact conversion")
    return Conversion(factor, images[0])


# ----------------------------------------------------------------------------------------------------------------------
# All names, for those who read texts elsewhere


class Definition(NamedTuple):
    """A unit: all its spellings, the canonical name first, and what it measures."""

    spellings: tuple[str, ...]
    kind: str
    """``offset`` (degC) and ``logarithmic`` (decibels) ones take no prefix; empty for all others."""
    dimension: tuple[tuple[str, int], ...]
    """Exponents of the base dimensions, doubled, as some units have halves."""


class Table(NamedTuple):
    """All units and prefixes (spelling, name), in the order in which Pint tries them."""

    units: list[Definition]
    prefixes: list[tuple[str, str]]


def table() -> Table:
    """All names that texts are read by."""
    registry, names = _pint()
    spellings: dict[str, list[str]] = {}
    for name in sorted(names & registry._units.keys()):  # pyright: ignore[reportPrivateUsage]
        spellings.setdefault(registry.get_name(name, case_sensitive=True), []).append(name)
    units: list[Definition] = []
    for name, own in sorted(spellings.items()):
        if not name:
            continue
        dimension = registry.get_dimensionality(Unit(((name, 1),)).container())
        powers: dict[str, Any] = dict(dimension)
        doubled = tuple(sorted((each, int(power * 2)) for each, power in powers.items()))
        try:
            kind = "offset" if _difference(name) != name else ""
        except UnitError:
            kind = "logarithmic"
        units.append(Definition((name, *(each for each in own if each != name)), kind, doubled))
    prefixes = registry._prefixes.items()  # pyright: ignore[reportPrivateUsage]
    return Table(units, [(spelling, str(prefix.name)) for spelling, prefix in prefixes])
