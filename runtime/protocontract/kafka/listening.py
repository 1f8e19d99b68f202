"""The rebalance listener that a guard gives to its client."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from protocontract.kafka.ports import RebalanceListener, TopicPartition

if TYPE_CHECKING:
    from protocontract.kafka.source import Source


class Listening(RebalanceListener):
    """Keeps the guard's books in step with the group, then calls the user's own listener."""

    def __init__(self, source: Source, chained: Any) -> None:
        self._source = source
        self._chained = chained

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """A rebalance begins."""
        self._source.revoked(revoked)
        if self._chained is not None:
            self._chained.on_partitions_revoked(revoked)

    def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
        """The membership is gone. A listener that knows no loss is told of a revocation."""
        self._source.lost(lost)
        chained = self._chained
        if chained is not None:
            getattr(chained, "on_partitions_lost", chained.on_partitions_revoked)(lost)

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """A rebalance ends."""
        self._source.assigned(assigned)
        if self._chained is not None:
            self._chained.on_partitions_assigned(assigned)
