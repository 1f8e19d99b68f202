"""What is asked before a message is looked at: time left, size, rate. In that order, the cheapest first.

A request that is refused before its rate is looked at costs no token; one that validation refuses afterwards has paid:
reading it was work.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from protocontract.serving.methods import Method
from protocontract.serving.rejection import refused


class TokenBucket:
    """Tokens that come at a rate and are saved up to a bound. Thread safe.

    What a refused call asked for is not lost: fractions of a token stay, and asking does not move the clock.
    """

    def __init__(self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        """``burst``: how many may be saved up; the bucket begins full. Raises ValueError for numbers below 0 or no
        room for one token."""
        if per_second < 0 or burst < 1:
            raise ValueError(
                f"rate: expected at least 0 a second and a burst of at least 1, got {per_second:g}, {burst}"
            )
        self._rate = per_second
        self._burst = burst
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens = float(burst)
        self._at = clock()

    def take(self) -> bool:
        """Take one token, if there is one."""
        with self._lock:
            # A clock that another thread read earlier must not rewind the bucket.
            now = max(self._clock(), self._at)
            self._tokens = min(float(self._burst), self._tokens + (now - self._at) * self._rate)
            self._at = now
            if self._tokens < 1.0:
                return False
            self._tokens -= 1.0
            return True


class Door:
    """The door of one RPC."""

    def __init__(self, method: Method, clock: Callable[[], float] = time.monotonic) -> None:
        self._method = method
        level = method.level
        self._max_bytes = level.max_request_bytes
        self._bucket = None if level.rate is None else TokenBucket(*level.rate, clock)

    def enter(self, size: int | None, remaining: float | None) -> None:
        """A call arrives: ``size`` in bytes of its one request, None for a stream; ``remaining`` seconds, None without
        a deadline. Raises Rejected."""
        if remaining is not None and remaining <= 0:
            raise refused(
                "DEADLINE_EXCEEDED", "the deadline had passed when the request came", method=self._method.name
            )
        if size is not None:
            self.measure(size)
        if self._bucket is not None and not self._bucket.take():
            per_second, burst = self._method.level.rate or (0.0, 0)
            raise refused(
                "RESOURCE_EXHAUSTED",
                f"more than {per_second:g} requests a second (burst {burst}); try again later",
                reason="RATE_LIMIT",
                method=self._method.name,
            )

    def measure(self, size: int, index: int | None = None) -> None:
        """One message of a request, of ``size`` bytes. Raises Rejected."""
        if self._max_bytes is not None and size > self._max_bytes:
            where = "" if index is None else f" in message {index}"
            raise refused(
                "RESOURCE_EXHAUSTED",
                f"a request of {size} bytes{where}; expected at most {self._max_bytes} (max_request_bytes)",
                reason="REQUEST_TOO_LARGE",
                method=self._method.name,
                limit=str(self._max_bytes),
            )
