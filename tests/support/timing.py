"""Bounds of time that say how something grows, not how fast it is (that is for tests/bench)."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """Processor seconds of ``work``, without the collector's: it goes through all that other tests left behind."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        began = time.process_time()
        work()
        return time.process_time() - began
    finally:
        if enabled:
            gc.enable()


def within(bound: float, work: Callable[[], object], tries: int = 8) -> bool:
    """Whether ``work`` takes at most ``bound`` processor seconds, in the best of some tries.

    A machine that does other things may slow one of them down; what takes too long by its nature is so in all.
    """
    return any(seconds(work) <= bound for _ in range(tries))
