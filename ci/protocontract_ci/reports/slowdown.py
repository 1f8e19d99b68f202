"""What judging a record costs after a change, beside what it cost before."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Figures of one message. Costs are medians in nanoseconds a record; ``ratio`` is the median over pairs of turns.

    ``lower`` and ``upper`` are the quartiles of the ratios. It is too slow where even the lower quartile is above
    ``limit``: three of four pairs say so, which a busy machine alone does not bring about.
    """

    message: str
    records: int
    before: float
    after: float
    ratio: float
    lower: float
    upper: float
    limit: float

    @property
    def too_slow(self) -> bool:
        """Whether the regression is beyond the limit."""
        return self.lower > self.limit

    @property
    def text(self) -> str:
        """``shop.v1.Order: a record costs 1.31 times what it did (quartiles 1.29 to 1.34), ...``."""
        return (
            f"{self.message}: a record costs {self.ratio:.2f} times what it did (quartiles {self.lower:.2f} to "
            f"{self.upper:.2f}), {self.before / 1000:.1f} -> {self.after / 1000:.1f} µs; limit {self.limit:.2f}"
        )
