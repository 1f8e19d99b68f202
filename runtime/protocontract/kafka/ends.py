"""The end that was: a guard may stop when everything is resolved that was in its topics when it started."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from protocontract.kafka.ports import Consumer, TopicPartition, known_errors

if TYPE_CHECKING:
    from protocontract.kafka.source import Source

#: Seconds between two questions about what other members have committed.
_ASK_EVERY: Final = 1.0


class Ends:
    """The ends of all partitions of the topics, as they are when this object is made."""

    def __init__(self, consumer: Consumer, pair: Callable[[str, int], TopicPartition]) -> None:
        """``pair``: the client's own type of a topic's partition."""
        tps: Iterable[TopicPartition] = consumer.assignment()
        topics = consumer.subscription()
        if topics:
            tps = [pair(topic, number) for topic in topics for number in consumer.partitions_for_topic(topic)]
        ends = consumer.end_offsets(list(tps))
        starts = consumer.beginning_offsets(list(tps))
        self._consumer = consumer
        self._ends = {tp: end for tp, end in ends.items() if end > starts.get(tp, 0)}
        self._asked = 0.0

    def reached(self, source: Source) -> bool:
        """Whether everything below the ends is resolved, by this member or by others."""
        others: list[tuple[TopicPartition, int]] = []
        for tp, end in self._ends.items():
            partition = source.partitions.get(tp)
            if partition is None:
                others.append((tp, end))
                continue
            ledger, keys = partition.ledger, partition.keys
            # What waits behind rejected records waits for somebody else.
            mark = ledger.next if keys and ledger.open == keys.waiting else ledger.watermark
            if mark is None or mark < end:
                return False
        if not others:
            return True
        now = time.monotonic()
        if now - self._asked < _ASK_EVERY:
            return False
        self._asked = now
        try:
            return all((self._consumer.committed(tp, timeout_ms=5_000) or 0) >= end for tp, end in others)
        except known_errors():
            # A rebalance, or a coordinator that moves. What lasts is told by the polls.
            return False
