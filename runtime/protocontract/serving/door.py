"""What is asked before a message is looked at: time left, size, rate, a place. In that order, the cheapest first.

A request that is refused before its rate is looked at costs no token; one that validation refuses afterwards has paid:
reading it was work. Places are taken when a call arrives, since one that waits for a thread waits already; that there
is none is told in its turn.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Final

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


class Queue:
    """How many calls of one RPC may be inside: those that run and those that wait. Thread safe."""

    def __init__(self, limit: int | None) -> None:
        """``limit`` None: as many as come."""
        self.limit: Final = limit
        self._lock = threading.Lock()
        self._inside = 0
        # Places that were collected: that can happen at any moment, also while this thread holds the lock.
        self._collected: deque[None] = deque()

    @property
    def inside(self) -> int:
        """How many are."""
        return self._inside - len(self._collected)

    def arrive(self) -> Place:
        """A call arrives: its place, which is taken if there is one."""
        if self.limit is None:
            return Place(None, taken=True)
        with self._lock:
            while self._collected:
                self._collected.pop()
                self._inside -= 1
            taken = self._inside < self.limit
            self._inside += taken
        return Place(self, taken=taken)

    def leave(self) -> None:
        """A call that had a place has ended."""
        with self._lock:
            self._inside -= 1

    def collected(self) -> None:
        """A call that had a place was given up, and never ended. For finalizers: it takes no lock."""
        self._collected.append(None)


class Place:
    """A call's place. It is given back when the call ends, or when nothing holds it any more: a call whose caller went
    away while it waited for a thread never runs."""

    __slots__ = ("_queue", "taken")

    def __init__(self, queue: Queue | None, *, taken: bool) -> None:
        self._queue = queue if taken else None
        self.taken: Final = taken

    def leave(self) -> None:
        """Give it back. Again does nothing."""
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.leave()

    def __enter__(self) -> Place:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def __del__(self) -> None:
        queue, self._queue = self._queue, None
        if queue is not None:
            queue.collected()


class Door:
    """The door of one RPC."""

    def __init__(self, method: Method, clock: Callable[[], float] = time.monotonic) -> None:
        self._method = method
        level = method.level
        self._max_bytes = level.max_request_bytes
        self._bucket = None if level.rate is None else TokenBucket(*level.rate, clock)
        # Those of one batch run and do not wait; without batches, whoever is inside counts as waiting.
        running = 0 if level.batch is None else level.batch[0]
        #: The calls that are inside.
        self.queue: Final = Queue(None if level.queue is None else level.queue + running)

    def enter(self, size: int | None, remaining: float | None, place: Place | None = None) -> None:
        """A call arrives: ``size`` in bytes of its one request, None for a stream; ``remaining`` seconds, None without
        a deadline; its ``place`` in the queue, None where somebody else looks after that. Raises Rejected."""
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
        if place is not None and not place.taken:
            raise refused(
                "RESOURCE_EXHAUSTED",
                f"{self.queue.limit} requests are inside, and no more may wait; try again later",
                reason="QUEUE_FULL",
                method=self._method.name,
                limit=str(self.queue.limit),
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


def demand_response_size(size: int, limit: int | None, method: str, index: int | None = None) -> None:
    """Hold a response of ``size`` bytes to what callers can take: gRPC's clients refuse more than 4 MiB by default, and
    do not say whose limit that is. ``index``: its place in a stream. Raises Rejected."""
    if limit is not None and size > limit:
        where = "" if index is None else f" in message {index}"
        raise refused(
            "RESOURCE_EXHAUSTED",
            f"a response of {size} bytes{where}; expected at most {limit} (max_response_bytes)",
            reason="RESPONSE_TOO_LARGE",
            method=method,
            limit=str(limit),
        )
