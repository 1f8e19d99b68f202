"""The progress line of ``protocontract guard``: what came in, what went out, what waits."""

from __future__ import annotations

import os
import time
from typing import Protocol, TextIO

from protocontract.kafka.guard import Guard
from protocontract.kafka.stats import GuardStats
from protocontract.terminal import plural


class Counting(Protocol):
    """What the progress line and the signal handlers need of a guard of either kind."""

    @property
    def stats(self) -> GuardStats: ...
    @property
    def blocked(self) -> str | None: ...
    @property
    def halted(self) -> str | None: ...
    @property
    def lag(self) -> int | None: ...
    @property
    def unacknowledged(self) -> int: ...
    def stop(self) -> None: ...


class Progress:
    """One line on standard error: redrawn every second on a terminal, else printed every ten seconds."""

    def __init__(self, guard: Counting, title: str, stream: TextIO) -> None:
        self._guard = guard
        self._title = title
        self._stream = stream
        self._live = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._every = 1.0 if self._live else 10.0
        self._next = time.monotonic() + self._every
        self._last = (time.monotonic(), 0)
        self._blocked: str | None = None

    def tick(self) -> None:
        """Show the state if it is time, or if the guard got stuck or free."""
        now = time.monotonic()
        blocked = self._guard.blocked
        if now < self._next and blocked == self._blocked:
            return
        self._blocked = blocked
        self._next = now + self._every
        self._write(self.line(), end=False)

    def finish(self) -> None:
        """Show the last state, on a line of its own."""
        self._write(self.line(), end=True)

    def line(self) -> str:
        """``raw -> payments   1,204 in   1,203 valid (99.96 %)   88 normalised   1 dead   lag 12   31,400/s``."""
        stats = self._guard.stats
        now = time.monotonic()
        then, count = self._last
        consumed = stats.consumed
        rate = max(0, consumed - count) / max(now - then, 1e-9)
        self._last = (now, consumed)
        share = "" if stats.compliance is None else f" ({percent(stats.compliance)})"
        lag = self._guard.lag
        parts = [
            self._title,
            f"{consumed:,} in",
            f"{stats.valid:,} valid{share}",
            f"{stats.normalized:,} normalised",
            f"{stats.dead_lettered:,} dead",
            plural(stats.tombstones, "tombstone") if stats.tombstones else "",
            "" if lag is None else f"lag {lag:,}",
            f"{rate:,.0f}/s",
        ]
        if self._guard.blocked:
            parts.append(f"waiting: {self._guard.blocked}")
        if self._guard.halted:
            parts.append(f"halted: {self._guard.halted}")
        waiting = self._guard.waiting if isinstance(self._guard, Guard) else None
        if waiting is not None and waiting != self._guard.blocked:
            parts.append(waiting)
        return "   ".join(part for part in parts if part)

    def _write(self, line: str, *, end: bool) -> None:
        if self._live:
            self._stream.write(f"\r\x1b[K{line}" + ("\n" if end else ""))
        else:
            self._stream.write(f"{line}\n")
        self._stream.flush()


def percent(share: float) -> str:
    """A share with two decimals, never rounded up to 100 %: ``99.96 %``."""
    return f"{int(round(share * 10_000, 6)) / 100:.2f} %"
