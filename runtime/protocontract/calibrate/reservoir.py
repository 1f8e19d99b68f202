"""Draws a calibration set and a set that is held out from a stream of records, by content and seed.

A record's rank is SHA-256 of the seed and its bytes. The lowest ranks are drawn: those below make the calibration set,
the next ones are held out. So the draw does not depend on the order of records or files, every different record is as
likely as any other, and one that occurs a hundred times is drawn once: it cannot be in both sets, where it would make
the agreement look better than it is.
"""

from __future__ import annotations

import hashlib
import heapq
import re
from fractions import Fraction
from typing import Final, NamedTuple

_BITS: Final = 256
_WRITTEN: Final = re.compile(r"([0-9]{1,7})|([0-9]{1,3}(?:\.[0-9]{1,9})?) ?%")


class Size(NamedTuple):
    """How many records: a number of them, or a share of those that are different."""

    records: int | None
    share: Fraction | None

    @classmethod
    def parse(cls, text: str) -> Size:
        """``100`` or ``1%``. Raises ValueError."""
        found = _WRITTEN.fullmatch(text)
        if found is None:
            raise ValueError("expected a number of records or a share, 100 or 1%")
        if found[1] is not None:
            if int(found[1]) == 0:
                raise ValueError("expected at least one record")
            return cls(int(found[1]), None)
        share = Fraction(found[2]) / 100
        if not 0 < share <= 1:
            raise ValueError("expected a share above 0 % and up to 100 %")
        return cls(None, share)

    def __str__(self) -> str:
        return str(self.records) if self.share is None else f"{float(self.share * 100):g}%"


class Drawn(NamedTuple):
    """Records in the order of their ranks."""

    calibration: list[bytes]
    held_out: list[bytes]


class Reservoir:
    """Takes records one by one. Memory is bounded by what is drawn."""

    def __init__(self, take: Size, hold_out: Size, seed: int) -> None:
        """Raises ValueError where one size is a number and the other a share, or the shares are more than all."""
        if (take.share is None) != (hold_out.share is None):
            raise ValueError("a number and a share; expected two numbers of records or two shares")
        self._take: Final = take
        self._seed: Final = hashlib.sha256(f"protocontract calibrate {seed}".encode()).digest()
        #: Rank below which records may be drawn, where the sizes are shares.
        self._below = 1 << _BITS
        #: Most records that may be drawn, where the sizes are numbers.
        self._most: int | None = None
        if take.records is not None and hold_out.records is not None:
            self._most = take.records + hold_out.records
        elif take.share is not None and hold_out.share is not None:
            if take.share + hold_out.share > 1:
                raise ValueError("shares of more than all records; expected at most 100 % together")
            self._below = _rank_at(take.share + hold_out.share)
        # A heap of negated ranks: the highest rank, which goes first, is at its top.
        self._ranks: list[int] = []
        self._records: dict[int, bytes] = {}

    def add(self, record: bytes) -> None:
        """Consider one record."""
        rank = int.from_bytes(hashlib.sha256(self._seed + record).digest(), "big")
        if rank >= self._below or rank in self._records:
            return
        self._records[rank] = record
        if self._most is None:
            return
        heapq.heappush(self._ranks, -rank)
        if len(self._ranks) > self._most:
            highest = -heapq.heappop(self._ranks)
            del self._records[highest]
            # What ranks higher than what fell out would fall out too.
            self._below = highest

    def drawn(self) -> Drawn:
        """The two sets of what was seen so far. With fewer records than were asked for, fewer are held out."""
        ranks = sorted(self._records)
        if self._take.share is None:
            number = self._take.records
        else:
            number = sum(rank < _rank_at(self._take.share) for rank in ranks)
        records = [self._records[rank] for rank in ranks]
        return Drawn(records[:number], records[number:])


def _rank_at(share: Fraction) -> int:
    return int(share * (1 << _BITS))
