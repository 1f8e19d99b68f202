"""What is counted of the values of one field, by its kind. Every tally merges with its like, exactly and in any order.

No tally keeps a text: of texts there are lengths and classes of characters, of labels the counts of those that the
contract declares.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from functools import lru_cache
from math import isfinite
from typing import Any, Final, Literal, Protocol, TypeAlias

from protocontract.card.sketch import Sketch, key_of, number_of
from protocontract.normalize.unicode_data import unicode_data
from protocontract.relations import tensor_elements

QUANTILES: Final = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
#: Bins of a histogram between its tails.
BINS: Final = 24

# Doubles are multiples of 2 ** -1074: sums of them are kept as integers of that unit, so that no order rounds.
_UNIT: Final = 1074
_WHOLE: Final = 1 << 53
_SECOND: Final = 1_000_000_000

Scale: TypeAlias = Literal["number", "whole", "moment"]

# Round spans of time: the widths of bins of moments, in seconds. Beyond them nanoseconds are numbers like others.
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_SPANS: Final = (
    1, 2, 5, 10, 15, 30, _MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 15 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR,
    3 * _HOUR, 6 * _HOUR, 12 * _HOUR, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY, 28 * _DAY, 91 * _DAY, 182 * _DAY, 364 * _DAY,
)  # fmt: skip


class Tally(Protocol):
    """What all tallies can do. ``merge`` is given a tally of the same kind."""

    def add(self, value: Any) -> None: ...
    def merge(self, other: Any) -> None: ...
    def report(self) -> dict[str, Any]: ...


class Numbers:
    """Integers or doubles: range, mean, quantiles, histogram."""

    __slots__ = (
        "_maximum",
        "_minimum",
        "_negative",
        "_positive",
        "_total",
        "_whole",
        "count",
        "not_a_number",
        "sketch",
    )

    def __init__(self, *, whole: bool) -> None:
        self._whole = whole
        self.count = 0
        self.not_a_number = 0
        self._positive = self._negative = 0
        self._minimum: float | None = None
        self._maximum: float | None = None
        self._total = 0
        self.sketch = Sketch()

    def add(self, value: float) -> None:
        """Count one number."""
        if self._whole:
            self._total += int(value)
            self.sketch.add(key_of(float(value)))
        elif isfinite(value):
            value += 0.0  # of the two zeros, one
            top, bottom = value.as_integer_ratio()
            self._total += top << (_UNIT + 1 - bottom.bit_length())
            self.sketch.add(key_of(value))
        else:
            self.not_a_number += value != value
            self._positive += value > 0
            self._negative += value < 0
            return
        self.count += 1
        if self._minimum is None or value < self._minimum:
            self._minimum = value
        if self._maximum is None or value > self._maximum:
            self._maximum = value

    def merge(self, other: Numbers) -> None:
        """Count what another tally has counted."""
        self.count += other.count
        self.not_a_number += other.not_a_number
        self._positive += other._positive
        self._negative += other._negative
        self._total += other._total
        self._minimum = _least(self._minimum, other._minimum)
        self._maximum = _most(self._maximum, other._maximum)
        self.sketch.merge(other.sketch)

    def report(self) -> dict[str, Any]:
        """Count, range, mean, quantiles, histogram. ``exact``: quantiles are values that were there, not rounded ones.

        ``relative_error`` bounds how far a quantile that is not exact lies from the value.
        """
        found: dict[str, Any] = {"count": self.count}
        if not self._whole:
            found |= {"nan": self.not_a_number, "infinite": self._positive, "negative_infinite": self._negative}
        if self._minimum is None or self._maximum is None:
            return found
        shift = self.sketch.shift
        exact = shift == 0 and not (self._whole and max(abs(self._minimum), abs(self._maximum)) > _WHOLE)
        spread = _Spread(self._steps(self._minimum, self._maximum), self.count, "whole" if self._whole else "number")
        found |= {"min": self._minimum, "max": self._maximum, "mean": self._mean(), "exact": exact}
        if not exact:
            # Half a bucket, against the least number in it; whole numbers beyond 2 ** 53 are rounded to doubles.
            found["relative_error"] = min(1.0, 2.0 ** (shift - 53)) if shift else 2.0**-53
        return found | spread.report(self._minimum, self._maximum, exact=exact)

    def _mean(self) -> float:
        unit = 0 if self._whole else _UNIT
        return float(Fraction(self._total, self.count << unit))

    def _steps(self, least: float, most: float) -> list[tuple[float, int]]:
        """One number for each bucket, the middle of it, with its count."""
        steps: list[tuple[float, int]] = []
        for low, high, number in self.sketch.buckets():
            middle = number_of(low) / 2 + number_of(high) / 2 if low != high else number_of(low)
            middle = round(middle) if self._whole else middle
            steps.append((min(max(middle, least), most), number))
        return steps


class Moments:
    """Moments in nanoseconds since the epoch: range, quantiles, histogram."""

    __slots__ = ("_maximum", "_minimum", "count", "sketch")

    def __init__(self) -> None:
        self.count = 0
        self._minimum: int | None = None
        self._maximum: int | None = None
        self.sketch = Sketch()

    def add(self, value: int) -> None:
        """Count one moment."""
        self.count += 1
        self.sketch.add(value)
        if self._minimum is None or value < self._minimum:
            self._minimum = value
        if self._maximum is None or value > self._maximum:
            self._maximum = value

    def merge(self, other: Moments) -> None:
        """Count what another tally has counted."""
        self.count += other.count
        self._minimum = _least(self._minimum, other._minimum)
        self._maximum = _most(self._maximum, other._maximum)
        self.sketch.merge(other.sketch)

    def report(self) -> dict[str, Any]:
        """Count and range; quantiles and histogram in moments, which are off by half of ``resolution_seconds``."""
        found: dict[str, Any] = {"count": self.count}
        if self._minimum is None or self._maximum is None:
            return found
        least, most, shift = self._minimum, self._maximum, self.sketch.shift
        steps = [(min(max((low + high) // 2, least), most), number) for low, high, number in self.sketch.buckets()]
        spread = _Spread(steps, self.count, "moment").report(least, most, exact=shift == 0)
        found |= {"min": written(least), "max": written(most), "exact": shift == 0}
        if shift:
            found["resolution_seconds"] = (1 << shift) / _SECOND
        found["quantiles"] = {name: written(value) for name, value in spread["quantiles"].items()}
        found["histogram"] = [[written(low), written(high), number] for low, high, number in spread["histogram"]]
        return found


class Texts:
    """Texts: lengths in code points, general categories of their characters, and the alphabets of their letters."""

    __slots__ = ("alphabets", "ascii", "categories", "lengths")

    def __init__(self) -> None:
        self.lengths = Numbers(whole=True)
        self.ascii = 0
        #: Of each general category: how many characters, and in how many texts.
        self.categories: dict[str, list[int]] = {}
        self.alphabets: dict[str, list[int]] = {}

    def add(self, value: str) -> None:
        """Count one text."""
        self.lengths.add(len(value))
        self.ascii += value.isascii()
        # Plain dictionaries: this is where a card of texts spends its time.
        categories: dict[str, int] = {}
        alphabets: dict[str, int] = {}
        for character, number in Counter(value).items():
            category, alphabet = _class(character)
            categories[category] = categories.get(category, 0) + number
            if alphabet:
                alphabets[alphabet] = alphabets.get(alphabet, 0) + number
        for kept, found in ((self.categories, categories), (self.alphabets, alphabets)):
            for name, number in found.items():
                _count(kept, name, number, 1)

    def merge(self, other: Texts) -> None:
        """Count what another tally has counted."""
        self.lengths.merge(other.lengths)
        self.ascii += other.ascii
        for kept, found in ((self.categories, other.categories), (self.alphabets, other.alphabets)):
            for name, (characters, texts) in found.items():
                _count(kept, name, characters, texts)

    def report(self) -> dict[str, Any]:
        """Lengths, and characters and texts by class."""
        return {
            "length": self.lengths.report(),
            "ascii": self.ascii,
            "categories": _classes(self.categories),
            "alphabets": _classes(self.alphabets),
        }


class Labels:
    """Values of a closed set. Those that the contract declares are counted one by one, all others together."""

    __slots__ = ("_declared", "counts", "other")

    def __init__(self, declared: Mapping[Any, str]) -> None:
        self._declared = declared
        self.counts: Counter[str] = Counter()
        self.other = 0

    def add(self, value: Any) -> None:
        """Count one value."""
        name = self._declared.get(value)
        if name is None:
            self.other += 1
        else:
            self.counts[name] += 1

    def merge(self, other: Labels) -> None:
        """Count what another tally has counted."""
        self.counts.update(other.counts)
        self.other += other.other

    def report(self) -> dict[str, Any]:
        """Counts of declared labels that occur, in the order of the contract; how many are declared; the others."""
        names = list(dict.fromkeys(self._declared.values()))
        return {
            "count": self.counts.total() + self.other,
            "declared": len(names),
            "labels": [[name, self.counts[name]] for name in names if self.counts[name]],
            "other": self.other,
        }


class Tensors:
    """Tensors: the sizes of each axis, and the range of the elements."""

    __slots__ = ("_axes", "_dims", "count", "elements", "infinite", "maximum", "minimum", "not_a_number", "zeros")

    def __init__(self, dims: Sequence[str]) -> None:
        self._dims = tuple(dims)
        self._axes = tuple(Numbers(whole=True) for _ in dims)
        self.count = self.elements = self.zeros = self.infinite = self.not_a_number = 0
        self.minimum: float | None = None
        self.maximum: float | None = None

    def add(self, value: tuple[tensor_elements.Elements, Sequence[int] | None]) -> None:
        """Count one tensor: its elements, and its sizes where they are known."""
        elements, sizes = value
        self.count += 1
        found = elements.extent()
        self.elements += len(elements)
        self.zeros += found.zeros
        self.infinite += found.infinite
        self.not_a_number += found.not_a_number
        self.minimum = _least(self.minimum, found.least)
        self.maximum = _most(self.maximum, found.most)
        if sizes is not None and len(sizes) == len(self._axes):
            for axis, size in zip(self._axes, sizes, strict=True):
                axis.add(size)

    def merge(self, other: Tensors) -> None:
        """Count what another tally has counted."""
        self.count += other.count
        self.elements += other.elements
        self.zeros += other.zeros
        self.infinite += other.infinite
        self.not_a_number += other.not_a_number
        self.minimum = _least(self.minimum, other.minimum)
        self.maximum = _most(self.maximum, other.maximum)
        for axis, another in zip(self._axes, other._axes, strict=True):
            axis.merge(another)

    def report(self) -> dict[str, Any]:
        """Axes with their sizes, and the finite range of all elements."""
        return {
            "count": self.count,
            "axes": [{"dim": dim, "size": axis.report()} for dim, axis in zip(self._dims, self._axes, strict=True)],
            "elements": self.elements,
            "zeros": self.zeros,
            "nan": self.not_a_number,
            "infinite": self.infinite,
            "min": self.minimum,
            "max": self.maximum,
        }


class _Spread:
    """Quantiles and histogram of numbers in order, each with its count."""

    def __init__(self, steps: Sequence[tuple[float, int]], count: int, scale: Scale) -> None:
        self._steps = steps
        self._count = count
        self._scale: Final = scale

    def report(self, least: float, most: float, *, exact: bool) -> dict[str, Any]:
        quantiles = {f"{share:g}": self._quantile(share) for share in QUANTILES}
        return {"quantiles": quantiles, "histogram": self._histogram(least, most, exact=exact)}

    def _quantile(self, share: float) -> float:
        """The least number that at least this share of all does not exceed."""
        # A double such as 0.95 is not the share that was meant: count in hundredths.
        rank = max(1, -(-round(share * 100) * self._count // 100))
        seen = 0
        for value, number in self._steps:
            seen += number
            if seen >= rank:
                return value
        return self._steps[-1][0]

    def _histogram(self, least: float, most: float, *, exact: bool) -> list[list[Any]]:
        """``[from, to, count]``. ``to`` of whole numbers is in the bin; else it is where the next bin begins."""
        if exact and len(self._steps) <= BINS:
            return [[value, value, number] for value, number in self._steps]
        low, high = self._quantile(0.01), self._quantile(0.99)
        # Tails that would squeeze everything else into a few bins are bins of their own.
        if Fraction(high) - Fraction(low) >= (Fraction(most) - Fraction(least)) / 3 or low >= high:
            low, high = least, most
        edges = _edges(low, high, self._scale)
        counts = [0] * (len(edges) - 1)
        under = over = place = 0
        for value, number in self._steps:
            if value < edges[0]:
                under += number
            elif value >= edges[-1]:
                over += number
            else:
                while value >= edges[place + 1]:
                    place += 1
                counts[place] += number
        last = 1 if self._scale == "whole" else 0
        bins: list[list[Any]] = [
            [_plain(edges[at]), _plain(edges[at + 1] - last), number] for at, number in enumerate(counts)
        ]
        if under:
            bins.insert(0, [least, _plain(edges[0] - last), under])
        if over:
            bins.append([_plain(edges[-1]), most, over])
        return bins


def _edges(low: float, high: float, scale: Scale) -> list[Fraction]:
    """Edges of bins from at most ``low`` to above ``high``, at round numbers, or round spans of time."""
    first, end = Fraction(low), Fraction(high)
    width = _round_width((end - first) / BINS, scale)
    start = first // width * width
    return [start + width * at for at in range(int((end - start) // width) + 2)]


def _round_width(least: Fraction, scale: Scale) -> Fraction:
    """The least round number that is not below ``least``: 1, 2 or 5 with zeros, seconds to weeks for moments."""
    if scale == "moment":
        for seconds in _SPANS:
            if seconds * _SECOND >= least:
                return Fraction(seconds * _SECOND)
    # 10 ** power is at most ``least``: the power is found on integers, where no logarithm rounds.
    power = len(str(least.numerator)) - len(str(least.denominator)) - 1
    for digit in (1, 2, 5, 10, 20, 50, 100):
        width = digit * Fraction(10) ** power
        if width >= least and (scale == "number" or width.denominator == 1):
            return width
    return Fraction(1)  # whole numbers closer together than one


def _plain(edge: Fraction) -> float:
    return int(edge) if edge.denominator == 1 else float(edge)


@lru_cache(maxsize=8192)
def _class(character: str) -> tuple[str, str]:
    """A character's general category, and for letters the alphabet: the first word of the Unicode name.

    Unicode names begin so by convention: LATIN SMALL LETTER A, CJK UNIFIED IDEOGRAPH-4E2D.
    """
    data = unicode_data()
    category = data.category(character)
    if not category.startswith("L"):
        return category, ""
    return category, data.name(character, "").partition(" ")[0] or "UNNAMED"


def _count(kept: dict[str, list[int]], name: str, characters: int, texts: int) -> None:
    row = kept.setdefault(name, [0, 0])
    row[0] += characters
    row[1] += texts


def _classes(kept: Mapping[str, list[int]]) -> list[dict[str, Any]]:
    return [
        {"class": name, "characters": characters, "texts": texts} for name, (characters, texts) in sorted(kept.items())
    ]


def _least(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else min(one, other)


def _most(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else max(one, other)


def written(nanoseconds: float) -> str:
    """A moment as RFC 3339 in UTC; its seconds since the epoch where it is beyond the years 1 to 9999."""
    seconds, rest = divmod(int(nanoseconds), _SECOND)
    try:
        text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{seconds} s"
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{text:0>19}{fraction}Z"
