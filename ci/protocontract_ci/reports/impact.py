"""What a change of a contract does to real records: counts by rule, with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from protocontract.comparison import Kind

#: Two-sided 95 %.
_Z: Final = 1.959963984540054

#: How a report calls what becomes of a record.
WORDS: Final[dict[Kind, str]] = {
    "newly_rejected": "newly rejected",
    "newly_accepted": "newly accepted",
    "normalized_differently": "normalised differently",
}


@dataclass(frozen=True, slots=True)
class RuleImpact:
    """The records for which one rule at one field makes a difference. A record may count for several rules.

    ``example`` is a value of the data: filled only where the user asked for values, never for sensitive fields.
    """

    kind: Kind
    rule: str
    path: str
    records: int
    example: str = ""


@dataclass(frozen=True, slots=True)
class Impact:
    """What became of a sample. ``counts`` are records by kind, ``refused`` those that could not even be delimited."""

    message: str
    source: str
    records: int
    counts: tuple[tuple[Kind, int], ...]
    rules: tuple[RuleImpact, ...]
    refused: int = 0

    @property
    def differing(self) -> int:
        """The records whose fate is another one."""
        return sum(number for _, number in self.counts)

    @property
    def headline(self) -> str:
        """``shop.v1.Order: 3 of 1,000 records of orders.jsonl would fare otherwise``."""
        return f"{self.message}: {self.differing:,} of {self.records:,} records of {self.source} would fare otherwise"

    def share(self, number: int) -> str:
        """``0.30 % (95 %: 0.10 % to 0.88 %, n = 1,000)``."""
        low, high = wilson(number, self.records)
        share = number / self.records if self.records else 0.0
        return f"{_percent(share)} (95 %: {_percent(low)} to {_percent(high)}, n = {self.records:,})"


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The Wilson score interval of a share, at 95 %: honest for shares near 0 and small samples; (0, 1) without any.

    It speaks for records that come as those of the sample did: a sample of one day says nothing of another.
    """
    if n == 0:
        return 0.0, 1.0
    share = hits / n
    middle = (share + _Z * _Z / (2 * n)) / (1 + _Z * _Z / n)
    half = _Z / (1 + _Z * _Z / n) * math.sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n))
    # Rounding must not cut off what was counted.
    return (max(0.0, middle - half) if hits else 0.0), (min(1.0, middle + half) if hits < n else 1.0)


def _percent(share: float) -> str:
    return f"{share * 100:.2f} %"
