"""The elements of a tensor, read in place: bytes through the buffer protocol, repeated numbers as they are.

Two readers give the same verdicts: one on memoryview alone, and one on NumPy where that is installed and the tensor is
large enough to pay for it. Neither copies the tensor; both work in chunks.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import struct
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, Protocol

_CHUNK: Final = 1 << 13
_NUMPY_CHUNK: Final = 1 << 16
_WORTH_NUMPY: Final = 4096
"""Elements below which starting NumPy costs more than it saves."""

FORMATS: Final = {
    "bool": "B",
    "int8": "b",
    "int16": "h",
    "int32": "i",
    "int64": "q",
    "uint8": "B",
    "uint16": "H",
    "uint32": "I",
    "uint64": "Q",
    "float16": "e",
    "float32": "f",
    "float64": "d",
    "bfloat16": "H",
}
"""struct's format of each dtype. bfloat16 is read as its 16 bits."""

SIZES: Final = {dtype: struct.calcsize(f"<{code}") for dtype, code in FORMATS.items()}
"""Bytes of one element."""

FLOATS: Final = frozenset({"float16", "float32", "float64", "bfloat16"})

INTEGER_BOUNDS: Final = {
    "bool": (0, 1),
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint8": (0, (1 << 8) - 1),
    "uint16": (0, (1 << 16) - 1),
    "uint32": (0, (1 << 32) - 1),
    "uint64": (0, (1 << 64) - 1),
}

LARGEST: Final = {
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.fep127"),
    "float32": float.fromhex("0x1.fffffep127"),
    "float64": sys.float_info.max,
}
"""The largest finite value of each float dtype."""


class Extent(NamedTuple):
    """What the elements of a tensor are like. ``least`` and ``most`` are of the finite ones, None without."""

    zeros: int
    not_a_number: int
    infinite: int
    least: float | None
    most: float | None


class Elements(Protocol):
    """What the checks ask of a tensor. Places count elements."""

    def __len__(self) -> int: ...

    def first_not_finite(self) -> int | None:
        """The place of the first NaN or infinity."""

    def first_outside(self, low: float, high: float) -> int | None:
        """The place of the first element that is not in low..high (NaN never is)."""

    def first_bad_norm(self, length: int, value: float, tolerance: float) -> int | None:
        """The first row of ``length`` elements whose L2 norm is not within ``tolerance`` of ``value``."""

    def extent(self) -> Extent:
        """The range of the elements, and how many are special."""
        ...


class Numbers:
    """Repeated numbers, or a memoryview of native numbers: elements in a Python sequence."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def values(self, start: int, stop: int) -> Sequence[Any]:
        """The elements of a range of places."""
        part: Sequence[Any] = self._values[start:stop]
        return part

    def _chunks(self) -> Iterator[tuple[int, Sequence[Any]]]:
        for start in range(0, len(self._values), _CHUNK):
            yield start, self._values[start : start + _CHUNK]

    def first_not_finite(self) -> int | None:
        for start, chunk in self._chunks():
            total = sum(chunk)
            # A sum that is finite has finite terms only. The converse fails where large terms overflow.
            if total - total != 0:
                for at, value in enumerate(chunk, start):
                    if value - value != 0:
                        return at
        return None

    def first_outside(self, low: float, high: float) -> int | None:
        for start, chunk in self._chunks():
            # min and max skip NaN by chance of order; a NaN shows in the sum, or not at all after an overflow to
            # infinity, which is as suspicious.
            total = sum(chunk)
            if total - total == 0 and low <= min(chunk) and max(chunk) <= high:
                continue
            for at, value in enumerate(chunk, start):
                if not low <= value <= high:
                    return at
        return None

    def extent(self) -> Extent:
        zeros = not_a_number = infinite = 0
        least: float | None = None
        most: float | None = None
        for _, chunk in self._chunks():
            finite = [value for value in chunk if value - value == 0]
            not_a_number += sum(value != value for value in chunk)
            zeros += finite.count(0)
            infinite += len(chunk) - len(finite)
            if finite:
                least = min(finite) if least is None else min(least, min(finite))
                most = max(finite) if most is None else max(most, max(finite))
        return Extent(zeros, not_a_number, infinite - not_a_number, _plain(least), _plain(most))

    def first_bad_norm(self, length: int, value: float, tolerance: float) -> int | None:
        for row, start in enumerate(range(0, len(self._values) - length + 1, length)):
            if not abs(norm(self._values[start : start + length]) - value) <= tolerance:
                return row
        return None


class Converted(Numbers):
    """Bytes whose elements Python's memoryview cannot read in place: converted a chunk at a time."""

    def __init__(self, view: memoryview, dtype: str) -> None:
        self._view = view
        self._size = SIZES[dtype]
        self._code = FORMATS[dtype]
        self._brain = dtype == "bfloat16"
        super().__init__(_Slices(self))

    def part(self, start: int, stop: int) -> Sequence[Any]:
        raw = self._view[start * self._size : stop * self._size]
        count = len(raw) // self._size
        items: Sequence[Any] = struct.unpack(f"<{count}{self._code}", raw)
        if not self._brain:
            return items
        # bfloat16 is the upper half of a float32.
        return struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(item << 16 for item in items)))

    def count(self) -> int:
        return len(self._view) // self._size


class _Slices(Sequence[Any]):
    """The sequence that Numbers wants: a length, and slices made on demand."""

    def __init__(self, source: Converted) -> None:
        self._source = source

    def __len__(self) -> int:
        return self._source.count()

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            start, stop, _ = at.indices(len(self))
            return self._source.part(start, stop)
        return self._source.part(at, at + 1)[0]


class NumPyElements:
    """The same questions, answered by NumPy on a view of the bytes. Its doubts are settled by the exact reader."""

    def __init__(self, np: Any, view: memoryview, dtype: str, exact: Numbers) -> None:
        self._np = np
        self._exact = exact
        self._brain = dtype == "bfloat16"
        self._array = np.frombuffer(view, dtype=f"<{_NUMPY_KIND[dtype]}")

    def __len__(self) -> int:
        return len(self._array)

    def _part(self, start: int, stop: int) -> Any:
        part = self._array[start:stop]
        return (part.astype("u4") << 16).view("f4") if self._brain else part

    def _doubles(self, part: Any) -> Any:
        # Widening a signalling NaN makes NumPy warn, and a warning can be an error where this runs.
        with self._np.errstate(invalid="ignore"):
            return part.astype("f8")

    def _first(self, good: Any) -> int | None:
        """The first place at which ``good``, a function of a part, is false."""
        for start in range(0, len(self._array), _NUMPY_CHUNK):
            kept = good(self._part(start, start + _NUMPY_CHUNK))
            if not kept.all():
                return start + int(kept.argmin())
        return None

    def first_not_finite(self) -> int | None:
        return self._first(self._np.isfinite)

    def first_outside(self, low: float, high: float) -> int | None:
        # Bounds arrive as integers for integer dtypes and as doubles for floats, which are widened: a double bound
        # rounded to float16 would decide differently from the exact reader.
        if self._array.dtype.kind == "f" or self._brain:
            return self._first(lambda part: (self._doubles(part) >= low) & (self._doubles(part) <= high))
        info = self._np.iinfo(self._array.dtype)
        low, high = max(low, int(info.min)), min(high, int(info.max))
        if low > high:
            return 0 if len(self._array) else None
        return self._first(lambda part: (part >= low) & (part <= high))

    def extent(self) -> Extent:
        np = self._np
        zeros = not_a_number = infinite = 0
        least: float | None = None
        most: float | None = None
        for start in range(0, len(self._array), _NUMPY_CHUNK):
            part = self._part(start, start + _NUMPY_CHUNK)
            if part.dtype.kind == "f":
                finite = part[np.isfinite(part)]
                nans = int(np.count_nonzero(np.isnan(part)))
                not_a_number += nans
                infinite += len(part) - len(finite) - nans
                part = finite
            zeros += len(part) - int(np.count_nonzero(part))
            if len(part):
                low, high = part.min().item(), part.max().item()
                least = low if least is None else min(least, low)
                most = high if most is None else max(most, high)
        return Extent(zeros, not_a_number, infinite, _plain(least), _plain(most))

    def first_bad_norm(self, length: int, value: float, tolerance: float) -> int | None:
        np = self._np
        rows = max(1, _NUMPY_CHUNK // length)
        for row in range(0, len(self._array) // length, rows):
            last = min(row + rows, len(self._array) // length)
            part = self._doubles(self._part(row * length, last * length)).reshape(-1, length)
            with np.errstate(all="ignore"):
                found = np.sqrt(np.einsum("ij,ij->i", part, part))
                # Sums in another order differ in the last digits. What is that close to the limit, or not a number
                # that can be compared, is computed again exactly.
                clear = np.abs(np.abs(found - value) - tolerance) > 1e-9 * (1.0 + abs(value) + tolerance + found)
                good = clear & (np.abs(found - value) <= tolerance)
            for at in np.flatnonzero(~good):
                place = row + int(at)
                start = place * length
                if not abs(norm(self._exact.values(start, start + length)) - value) <= tolerance:
                    return place
        return None


def _plain(number: float | None) -> float | None:
    """Of the two zeros, one: which of them is the least depends on the order in which they are compared."""
    return None if number is None else number + 0


_NUMPY_KIND: Final = {
    "bool": "u1",
    "int8": "i1",
    "int16": "i2",
    "int32": "i4",
    "int64": "i8",
    "uint8": "u1",
    "uint16": "u2",
    "uint32": "u4",
    "uint64": "u8",
    "float16": "f2",
    "float32": "f4",
    "float64": "f8",
    "bfloat16": "u2",
}


def of_bytes(view: memoryview, dtype: str) -> Elements:
    """The elements of little-endian bytes, whose length is a multiple of the element's size."""
    native = sys.byteorder == "little" or SIZES[dtype] == 1
    plain = native and dtype not in ("float16", "bfloat16")
    exact = Numbers(view.cast(FORMATS[dtype])) if plain else Converted(view, dtype)  # type: ignore[call-overload]
    np = numpy() if len(view) >= _WORTH_NUMPY * SIZES[dtype] else None
    return exact if np is None else NumPyElements(np, view, dtype, exact)


@lru_cache(maxsize=1)
def numpy() -> Any:
    """NumPy, or None where it is not installed."""
    if importlib.util.find_spec("numpy") is None:
        return None
    return importlib.import_module("numpy")


def norm(row: Sequence[Any]) -> float:
    """The L2 norm, rounded once at the end as far as doubles allow; infinite or NaN where an element is."""
    total = 0.0
    try:
        total = math.sqrt(math.fsum(value * value for value in row))
    except OverflowError:
        total = math.inf
    if 1e-140 < total < 1e140 or total != total or not row:
        return total
    largest = max(abs(value) for value in row)
    if largest == 0 or largest - largest != 0:
        return float(largest)
    # Squares left the range of doubles: scale by the largest element.
    return float(largest * math.sqrt(math.fsum((value / largest) ** 2 for value in row)))
