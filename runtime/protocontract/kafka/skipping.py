"""A running guard passes over a record because an operator said so: the bookkeeping of ``protocontract guard skip``.

Whoever asks has written the record's dead letter before, so nothing is lost that was not lost already. The record must
be the one before which its partition stands, halted or blocked: a line that runs needs no help.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Final

from protocontract.kafka.outbox import Outbox
from protocontract.kafka.partition import Partition
from protocontract.kafka.ports import TopicPartition
from protocontract.kafka.record import RecordId
from protocontract.kafka.source import Source

log: Final = logging.getLogger("protocontract.kafka")


@dataclass(slots=True, eq=False)
class Skip:
    """One request. ``standing``: the committed offset that whoever asks has seen."""

    record: RecordId
    standing: int
    reason: str
    by: str
    #: Only say whether it could be done.
    dry_run: bool = False
    #: Why it is not done; None where it is.
    refused: str | None = None
    done: threading.Event = field(default_factory=threading.Event)


class Skipping:
    """The requests to one guard. They come from any thread, and are met on the guard's."""

    def __init__(self) -> None:
        self._asked: SimpleQueue[Skip] = SimpleQueue()

    @property
    def asked(self) -> bool:
        """Whether a request waits for ``look``."""
        return not self._asked.empty()

    def ask(self, skip: Skip, seconds: float) -> str | None:
        """Let a record be passed over. Returns why it was not, or None."""
        self._asked.put(skip)
        if not skip.done.wait(seconds):
            return f"the guard has not come to it within {seconds:g} s; ask again"
        return skip.refused

    def look(self, source: Source, outboxes: Sequence[Outbox], blocked: str | None) -> None:
        """Meet the requests. ``blocked``: why the guard delivers nothing at present, or None."""
        self.meet(lambda skip: self._meet(skip, source, outboxes, blocked))

    def meet(self, how: Callable[[Skip], str | None]) -> None:
        """Meet the requests. ``how`` passes over a record, and returns why not, or None."""
        while not self._asked.empty():
            skip = self._asked.get()
            skip.refused = how(skip)
            if skip.refused is None and not skip.dry_run:
                log.warning(
                    "skipped by an operator: record=%s by=%r reason=%r",
                    skip.record,
                    skip.by,
                    skip.reason,
                    extra={"protocontract": {"skipped": str(skip.record), "by": skip.by, "reason": skip.reason}},
                )
            skip.done.set()

    def _meet(self, skip: Skip, source: Source, outboxes: Sequence[Outbox], blocked: str | None) -> str | None:
        record = skip.record
        tp = TopicPartition(record.topic, record.partition)
        partition = source.partitions.get(tp)
        where = f"{record.topic}:{record.partition}"
        if partition is None:
            return f"{where} is not with this member; ask the one that has it"
        keys = partition.keys
        if not partition.halt and blocked is None and not (keys is not None and keys.blocks(record.offset)):
            return f"{where} is neither halted nor blocked"
        refused = elsewhere(skip, partition.ledger.watermark)
        if refused is None and not skip.dry_run:
            self._pass(partition, record.offset, source, outboxes)
            source.commit()
        return refused

    def _pass(self, partition: Partition, offset: int, source: Source, outboxes: Sequence[Outbox]) -> None:
        ledger, counts, keys = partition.ledger, partition.stats, partition.keys
        if keys is not None and keys.blocks(offset) and keys.free(offset):
            # Its letter is written and counted; those that waited behind it go on.
            return
        counts.skipped += 1
        if ledger.open and ledger.watermark == offset:
            # Taken, and its letter waits: it is not sent any more.
            for outbox in outboxes:
                outbox.cancel(partition, offset)
            ledger.resolve(offset)
            return
        counts.consumed += 1
        if partition.buffer and partition.buffer[0].offset == offset:
            partition.buffer.popleft()
            ledger.take(offset)
            ledger.resolve(offset)
            return
        # Never fetched: the line was halted when the partition came.
        source.seek(partition.tp, offset + 1)


def elsewhere(skip: Skip, mark: int | None) -> str | None:
    """Why the record is not the one before which its partition stands, given the first offset that is not resolved."""
    where = f"{skip.record.topic}:{skip.record.partition}"
    if mark is None:
        return f"{where} is just being taken over; ask again"
    if mark != skip.standing and mark != skip.record.offset:
        return f"{where} stands at {mark}, not at {skip.standing}; look again with guard status"
    return None
