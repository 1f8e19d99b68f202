"""When the records of a contract came, and how late: counted for metrics, over the life of the process.

A process judges the levels of its own partitions (``protocontract.levels``). What is counted here lets a Prometheus
server judge those of the whole stream: counters go on over windows and halts, and are added up over processes.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Final

#: Upper bounds of the histogram where no latency is promised, in seconds.
_BOUNDS: Final = (0.1, 0.5, 1.0, 5.0, 10.0, 60.0, 300.0, 900.0, 3600.0)
#: The same as parts of a promised latency, which is one of them.
_PARTS: Final = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


class Delay:
    """A histogram: records by their delay, from one kind of clock."""

    __slots__ = ("counts", "seconds")

    def __init__(self, size: int) -> None:
        #: Records in each bucket, not added up; the last one has no upper bound.
        self.counts = [0] * size
        self.seconds = 0.0


class Delays:
    """One contract's records. Written on the guard's thread, read on any."""

    __slots__ = ("_latency", "bounds", "by_clock", "last", "late")

    def __init__(self, latency: float | None) -> None:
        """``latency``: what is promised, in seconds."""
        self._latency = latency
        #: Upper bounds of the histograms, in seconds. A record exactly at one is within it.
        self.bounds: Final = (
            _BOUNDS
            if latency is None
            else tuple(latency if part == 1.0 else float(f"{part * latency:.6g}") for part in _PARTS)
        )
        #: A histogram for each kind of clock that told when the record was: the contract's field, CreateTime, ...
        self.by_clock: dict[str, Delay] = {}
        #: Records that were validated later than promised.
        self.late = 0
        #: When the last record was validated, in seconds since 1970; None before the first.
        self.last: float | None = None

    def record(self, now: float, moment: float | None, clock: str) -> None:
        """Count a record that was validated at ``now``; ``moment`` is when it was, as far as ``clock`` tells."""
        self.last = now
        if moment is None:
            return
        delay = now - moment
        if delay < 0.0:
            # A moment in the future is a clock that runs ahead, not a negative delay.
            delay = 0.0
        found = self.by_clock.get(clock)
        if found is None:
            found = self.by_clock[clock] = Delay(len(self.bounds) + 1)
        found.counts[bisect_left(self.bounds, delay)] += 1
        found.seconds += delay
        if self._latency is not None and delay > self._latency:
            self.late += 1
