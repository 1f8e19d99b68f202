"""How long a guard waits for what does not work: until it is told to give up, or where waiting cannot help."""

from __future__ import annotations

import logging
import time
from typing import Final

from protocontract.kafka.errors import GuardError

log: Final = logging.getLogger("protocontract.kafka")

#: Failures in a row after which missing rights are an error: waiting does not grant them.
FORBIDDEN_ATTEMPTS: Final = 5


def give_up_if_due(
    reason: str, kind: type[GuardError], seconds: float, give_up_after: float | None, *, forbidden: int = 0
) -> None:
    """Raises ``kind`` where what does not work, for ``reason``, is not to be waited for any longer.

    It has not worked for ``seconds``; ``give_up_after`` is how many may go by (None: any). ``forbidden`` tries in a row
    met missing rights.
    """
    if forbidden >= FORBIDDEN_ATTEMPTS:
        raise kind(f"{reason}; grant the right to write, then start again: nothing is lost")
    if give_up_after is not None and seconds >= give_up_after:
        raise kind(f"{reason}; gave up after {give_up_after:g} s: nothing is lost")


class Failures:
    """The failures in a row of what is tried again until it works, and the pauses between the tries."""

    def __init__(self, backoff: tuple[float, float], give_up_after: float | None) -> None:
        """``backoff``: first and longest pause; both arguments in seconds."""
        self._backoff = backoff
        self._give_up_after = give_up_after
        #: Why it does not work at present, or None.
        self.reason: str | None = None
        self._retry_at = 0.0
        self.over()

    def over(self) -> None:
        """It works."""
        self.reason = None
        self._since: float | None = None
        self._count = 0
        self._pause = self._backoff[0]

    @property
    def pausing(self) -> bool:
        """Whether it is too early for the next try."""
        return time.monotonic() < self._retry_at

    def add(self, reason: str, kind: type[GuardError], *, forbidden: bool) -> None:
        """One more. Raises ``kind`` where it is the last one: see ``give_up_if_due``."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
        if self.reason is None:
            log.warning("%s; trying again until it works, nothing is skipped", reason)
        self.reason = reason
        self._count += 1
        give_up_if_due(reason, kind, now - self._since, self._give_up_after, forbidden=self._count if forbidden else 0)
        self._retry_at = now + self._pause
        self._pause = min(self._pause * 2, self._backoff[1])
