"""What a guard says of itself, and what it is told from outside: everything about it but what it does."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from protocontract.kafka import block_key
from protocontract.kafka.ports import TopicPartition

if TYPE_CHECKING:
    from protocontract.kafka.halting import Halting
    from protocontract.kafka.judge import Judge
    from protocontract.kafka.outbox import Outbox
    from protocontract.kafka.skipping import Skip, Skipping
    from protocontract.kafka.source import Source
    from protocontract.levels import Verdict


class Halts:
    """What either kind of guard says of its halts, and is told of them from outside."""

    _halting: Halting
    _skipping: Skipping

    @property
    def halted(self) -> str | None:
        """Which partitions are halted by a level or a breaker, and why. None while the line runs."""
        return self._halting.halted

    @property
    def levels(self) -> Mapping[str, tuple[Verdict, ...]]:
        """What became of each promised level so far, by the contract's full name. On the guard's thread only."""
        return self._halting.levels()

    def resume_levels(self, reason: str = "") -> None:
        """Go on after a halt, with the record before which the line stopped; levels are judged anew.

        May be called from another thread or a signal handler, since a halted loop does not come back. The reason goes
        into the log.
        """
        self._halting.resume(reason)

    def skip(self, skip: Skip, within: float = 30.0) -> str | None:
        """Pass over the record before which a partition stands, halted or blocked: for ``protocontract guard skip``.

        To be called from another thread: it waits for the guard's, at most ``within`` seconds. Returns why it was not
        done, or None. The caller has kept what there is to keep of the record.
        """
        return self._skipping.ask(skip, within)


class Controls(Halts):
    """The part of a guard that others than its loop use. The engine fills in the parts that it looks at."""

    _deadline: float
    _judge: Judge
    _outbox: Outbox
    _sink: Outbox | None
    _source: Source
    _stopped_at: float | None
    _stopping: bool

    @property
    def blocked(self) -> str | None:
        """Why nothing is delivered at present: a topic cannot be written, or a registry does not answer. Else None."""
        registry = self._judge.registry
        return (
            self._outbox.blocked
            or (self._sink.blocked if self._sink else None)
            or (None if registry is None else registry.blocked)
            or block_key.waiting(list(self._source.partitions.values()), full=True)
        )

    @property
    def waiting(self) -> str | None:
        """What waits behind rejected records of its key, in words: see ``on_reject``. None where nothing does."""
        return block_key.waiting(list(self._source.partitions.values()))

    @property
    def unacknowledged(self) -> int:
        """Letters that the broker has not acknowledged yet."""
        return self._outbox.pending + (self._sink.pending if self._sink else 0)

    @property
    def assignment(self) -> set[TopicPartition]:
        """The partitions of this member."""
        return set(self._source.partitions)

    @property
    def lag(self) -> int | None:
        """Records of this member's partitions that are not resolved; None before the first fetch."""
        return self._source.lag()

    def stop(self) -> None:
        """End the loop after the record in hand. May be called from a signal handler or another thread."""
        if self._stopped_at is None:
            self._stopped_at = time.monotonic()
        self._stopping = True

    @property
    def grace_left(self) -> float:
        """Seconds that are left of the grace period while the guard closes; one at least, for an answer to come."""
        return max(1.0, self._deadline - time.monotonic())

    @property
    def stopping(self) -> bool:
        """Whether ``stop`` was called."""
        return self._stopping

    def pause(self, *partitions: TopicPartition) -> None:
        """Deliver nothing of these partitions until ``resume``. They stay with this member."""
        self._source.pause(partitions)

    def resume(self, *partitions: TopicPartition) -> None:
        """Go on with partitions after ``pause``: with the record after the last one delivered."""
        self._source.resume(partitions)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Go on at another offset. What was fetched is dropped, and the committed offset may go back.

        Raises GuardError where the partition is not this member's.
        """
        self._source.seek(partition, offset)
