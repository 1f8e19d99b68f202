"""One partition while a member has it: its books, what was fetched and not yet taken, its counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from protocontract.kafka.block_key import BlockedKeys
from protocontract.kafka.ledger import PartitionLedger
from protocontract.kafka.ports import Fetched, TopicPartition
from protocontract.kafka.stats import PartitionStats


class Partition:
    """One partition while this member has it: its books, what was fetched and not yet taken, its counts."""

    __slots__ = (
        "alive",
        "buffer",
        "epoch",
        "generation",
        "halt",
        "halt_sent",
        "held",
        "keys",
        "ledger",
        "owned",
        "sent",
        "stats",
        "tp",
    )

    def __init__(self, tp: TopicPartition, stats: PartitionStats, *, block_keys: bool = False) -> None:
        """``block_keys``: later records of a key wait behind a rejected one."""
        self.tp = tp
        self.stats = stats
        self.ledger = PartitionLedger()
        #: The keys that are blocked; None where none ever is.
        self.keys = BlockedKeys(self.ledger) if block_keys else None
        self.buffer: deque[Fetched] = deque()
        #: Whether this member has the partition now.
        self.owned = True
        #: Whether acknowledgements that arrive still count here. False once somebody else may have the partition.
        self.alive = True
        #: Whether the user paused it.
        self.held = False
        #: Why the line is stopped, as it is written beside the committed offset; "": it runs. None: a new partition,
        #: for which nobody has read yet what its last owner wrote.
        self.halt: str | None = ""
        #: The ``halt`` of the last commit that was sent. None: it must be sent (again).
        self.halt_sent: str | None = ""
        #: The generation in which it was revoked.
        self.generation = -1
        #: The offset of the last commit that was sent, acknowledged or not.
        self.sent = -1
        #: Leader epoch of the last record taken.
        self.epoch = -1

    @property
    def stopped(self) -> bool:
        """Whether nothing may be fetched or delivered: the user paused it, the line is stopped, or too many wait."""
        return self.held or self.halt != "" or (self.keys is not None and self.keys.full)

    @property
    def ready(self) -> bool:
        """Whether there are records to take now."""
        return bool(self.buffer or (self.keys is not None and self.keys.released)) and not self.stopped

    def put_back(self, raw: Fetched) -> None:
        """Take the record that was taken last another time: nothing was decided about it."""
        if self.keys is not None and raw.offset + 1 != self.ledger.next:
            self.keys.released.appendleft(raw)
            return
        self.ledger.put_back(raw.offset)
        self.stats.consumed -= 1
        self.buffer.appendleft(raw)

    def first_rewritten(self, records: Sequence[Fetched]) -> int | None:
        """The place of the first record that lies where another one was read before, or None.

        A later leader wrote it than all that was read: the log was cut off below, and went on differently. A record
        that is only read again has the epoch that it had.
        """
        last = self.buffer[-1] if self.buffer else None
        if last is None:
            upto, epoch = self.ledger.next, self.epoch
        else:
            upto, epoch = last.offset + 1, -1 if last.leader_epoch is None else last.leader_epoch
        if upto is None or epoch < 0 or records[0].offset >= upto:
            return None
        for place, raw in enumerate(records):
            if raw.offset >= upto:
                return None
            if raw.leader_epoch is not None and raw.leader_epoch > epoch:
                return place
        return None

    def abandon(self) -> None:
        """It belongs to somebody else now: forget what was fetched, and whatever is still on its way."""
        if self.alive:
            self.alive = False
            # Rejected records that keep their offset open are counted as dead-lettered already.
            open_ = self.ledger.open - (0 if self.keys is None else self.keys.counted)
            self.stats.consumed -= open_
            self.stats.abandoned += open_
        self.owned = False
        self.buffer.clear()
