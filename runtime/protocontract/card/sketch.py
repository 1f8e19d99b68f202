"""Counts of integers in a bounded number of buckets, in a state that the order of adding and merging cannot change.

A bucket holds the integers that are equal after ``key >> shift``. The shift starts at 0, where every bucket is one
integer, and grows by one whenever there are more than ``LIMIT`` buckets. It ends at the least shift for which the
integers seen fall into at most ``LIMIT`` buckets: a part of the data never needs a larger shift than the whole, and
wide buckets are unions of narrow ones. So any split of the data over workers merges into the same sketch, bit for bit.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

#: Most buckets of a sketch.
LIMIT: Final = 2048


class Sketch:
    """Counts of integers; see the module's text for what makes it mergeable."""

    __slots__ = ("counts", "shift")

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.shift = 0

    def add(self, key: int) -> None:
        """Count one integer."""
        bucket = key >> self.shift
        counts = self.counts
        counts[bucket] = counts.get(bucket, 0) + 1
        if len(counts) > LIMIT:
            self._widen(self.shift + 1)

    def merge(self, other: Sketch) -> None:
        """Count what another sketch has counted."""
        if other.shift > self.shift:
            self._widen(other.shift)
        by = self.shift - other.shift
        counts = self.counts
        for bucket, number in other.counts.items():
            counts[bucket >> by] = counts.get(bucket >> by, 0) + number
        if len(counts) > LIMIT:
            self._widen(self.shift + 1)

    def buckets(self) -> Iterator[tuple[int, int, int]]:
        """``(lowest, highest, count)`` of each bucket that is not empty, in order."""
        width = 1 << self.shift
        for bucket in sorted(self.counts):
            yield bucket << self.shift, (bucket << self.shift) + width - 1, self.counts[bucket]

    def _widen(self, shift: int) -> None:
        """Use the next shift from ``shift`` on at which the buckets are few enough."""
        counts = self.counts
        while True:
            by = shift - self.shift
            wider: dict[int, int] = {}
            for bucket, number in counts.items():
                wider[bucket >> by] = wider.get(bucket >> by, 0) + number
            if len(wider) <= LIMIT:
                self.counts, self.shift = wider, shift
                return
            shift += 1


_PACK: Final = struct.Struct(">d").pack
_UNPACK: Final = struct.Struct(">d").unpack
_BITS: Final = struct.Struct(">q")
_MAGNITUDE: Final = (1 << 63) - 1
_LARGEST: Final = _BITS.unpack(_PACK(float.fromhex("0x1.fffffffffffffp+1023")))[0]


def key_of(number: float) -> int:
    """A finite double as an integer in the same order: neighbours differ by one, zero is 0.

    Shifted right, it loses digits of the fraction first: buckets of numbers are as wide, relative to their numbers, on
    every order of magnitude.
    """
    bits: int = _BITS.unpack(_PACK(number))[0]
    return bits if bits >= 0 else -(bits & _MAGNITUDE)


def number_of(key: int) -> float:
    """The double of a key; the largest one where a bucket reaches beyond."""
    bits = min(abs(key), _LARGEST)
    number: float = _UNPACK(_BITS.pack(bits))[0]
    return -number if key < 0 else number
