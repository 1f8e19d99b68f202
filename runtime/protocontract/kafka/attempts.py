"""What becomes of a record whose handler raised: again, stop, or its dead letter. The same for every kind of guard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from protocontract.kafka.errors import GuardError

if TYPE_CHECKING:
    from protocontract.kafka.engine import Engine
    from protocontract.kafka.record import Record

OnFailure: TypeAlias = Literal["stop", "dead_letter"]


class Attempts:
    """The tries of one record after another, under the rules of one ``run``."""

    __slots__ = ("_backoff", "_engine", "_left", "_on_failure", "_pause", "_record", "_retries")

    def __init__(self, engine: Engine[Any], retries: int, backoff: tuple[float, float], on_failure: OnFailure) -> None:
        """``backoff``: first and longest pause in seconds. Raises GuardError for an unknown ``on_failure``."""
        if on_failure not in ("stop", "dead_letter"):
            raise GuardError(f"on_failure: expected stop or dead_letter, got {on_failure!r}")
        self._engine = engine
        self._retries = retries
        self._backoff = backoff
        self._on_failure = on_failure

    def begin(self, record: Record[Any]) -> None:
        """The next record."""
        self._record = record
        self._left = self._retries
        self._pause = self._backoff[0]

    def again(self, error: Exception) -> bool:
        """Whether to call the handler again after it raised ``error``; the pause is over then.

        Raises the error itself where that is what stops the guard.
        """
        record = self._record
        if self._left <= 0:
            if self._on_failure == "stop":
                raise error
            record._open = False
            self._engine._reject(record, "handler.failed", type(error).__name__)
            return False
        self._left -= 1
        self._engine._pause_handling(record, self._pause)
        self._pause = min(self._pause * 2, self._backoff[1])
        if self._engine.stopping or not record.owned:
            # Unresolved: whoever has the partition next begins with it.
            record._open = False
            return False
        return True
