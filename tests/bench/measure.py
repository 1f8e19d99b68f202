"""Times of several contestants in paired rounds.

In each round all contestants run over the same records, every second round in the opposite order, so that a machine
that slows down slows them all. A ratio is taken within a round; the median over rounds is reported. Garbage collection
is off meanwhile. Time is processor time of this thread: all contestants run in one thread, and what other processes
take is not theirs.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

#: A slow contestant's turn is cut to so many turns of the base.
_LONGEST = 25


@dataclass(frozen=True, slots=True)
class Timing:
    """What one contestant took: microseconds a record (median of the rounds), and its ratio to the base's."""

    microseconds: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Entry:
    """A function to time and what it is called with, in turn."""

    name: str
    run: Callable[[Any], object]
    values: Sequence[Any]


def paired(entries: Sequence[Entry], base: str, *, rounds: int, turn: float) -> dict[str, Timing]:
    """Times all entries in ``rounds`` rounds, with as many records a round as the base does in ``turn`` seconds."""
    quickest = {entry.name: _quickest(entry) for entry in entries}
    calls = max(10, int(turn / quickest[base]))
    order = [
        (entry, list(islice(cycle(entry.values), max(1, min(calls, int(turn * _LONGEST / quickest[entry.name]))))))
        for entry in entries
    ]
    taken: dict[str, list[float]] = {entry.name: [] for entry in entries}
    enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        for number in range(rounds):
            for entry, values in order if number % 2 == 0 else reversed(order):
                taken[entry.name].append(_time(entry.run, values) / len(values))
    finally:
        if enabled:
            gc.enable()
    return {
        name: Timing(
            statistics.median(times) * 1e6,
            statistics.median(mine / other for mine, other in zip(times, taken[base], strict=True)),
        )
        for name, times in taken.items()
    }


def _quickest(entry: Entry) -> float:
    """Seconds a record, at best: also the warm-up."""
    values = entry.values[:100]
    return max(1e-9, min(_time(entry.run, values) for _ in range(3)) / len(values))


def _time(run: Callable[[Any], object], values: Sequence[Any]) -> float:
    start = time.thread_time()
    for value in values:
        run(value)
    return time.thread_time() - start
