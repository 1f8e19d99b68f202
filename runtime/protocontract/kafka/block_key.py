"""Later records of a key wait behind a rejected one: ``on_reject="block_key"``.

The rejected record's letter is written as always, but its offset stays open, and records of the same key that follow in
its partition are held. Other keys go on. So nothing above the rejected record is committed: a new owner of the
partition begins with it, rejects it again (its letter comes twice, recognisable), and holds the others again. That is
all the state there is; it costs records that are read again, and it loses none.

The key is free when the record was sent again to its source (``replay --to-source`` or ``dead-letter edit``) and it
went through: then those that waited follow, in order. Or when an operator skips it (``guard skip``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from protocontract.kafka.ledger import PartitionLedger
from protocontract.kafka.ports import Fetched
from protocontract.kafka.record import RecordId, record_id
from protocontract.terminal import plural

if TYPE_CHECKING:
    from protocontract.kafka.partition import Partition

#: Offsets of a partition between the first open one and the last one taken, at most: books and held records take
#: memory. Beyond it, the partition waits as a whole.
MAX_SPAN: Final = 100_000


class _Blocked:
    """One key, and what waits behind its rejected record."""

    __slots__ = ("acknowledged", "held", "offset", "record")

    def __init__(self, offset: int, record: RecordId) -> None:
        self.offset = offset
        self.record = record
        self.acknowledged = False
        self.held: deque[Fetched] = deque()


class BlockedKeys:
    """The blocked keys of one partition."""

    def __init__(self, ledger: PartitionLedger) -> None:
        self._ledger = ledger
        self._keys: dict[bytes, _Blocked] = {}
        self._by_offset: dict[int, bytes] = {}
        self._again = -1
        #: Records that waited and may go on now. They were taken before.
        self.released: Final[deque[Fetched]] = deque()

    @property
    def counted(self) -> int:
        """How many open offsets are counted as dead-lettered already."""
        return sum(blocked.acknowledged for blocked in self._keys.values())

    @property
    def waiting(self) -> int:
        """How many open offsets wait for a key: rejected records whose letter is there, and those held behind."""
        return self.counted + sum(len(blocked.held) for blocked in self._keys.values())

    @property
    def full(self) -> bool:
        """Whether nothing more may be taken before a key is free."""
        return self._ledger.span >= MAX_SPAN and not self.released

    def hold(self, raw: Fetched) -> bool:
        """Whether a record has to wait, and keep it if so. The replay of a rejected record has not."""
        blocked = None if raw.key is None else self._keys.get(raw.key)
        if blocked is None or self._replays(raw, blocked):
            return False
        blocked.held.append(raw)
        return True

    def rejected(self, raw: Fetched) -> None:
        """A record is dead-lettered: its key is blocked, or stays so."""
        if raw.key is None:
            return
        if raw.key in self._keys:
            self._again = raw.offset
        else:
            self._keys[raw.key] = _Blocked(raw.offset, record_id(raw))
            self._by_offset[raw.offset] = raw.key

    def blocks(self, offset: int) -> bool:
        """Whether the record at an offset is one behind which others of its key wait."""
        return offset in self._by_offset

    def acknowledge(self, offset: int) -> bool:
        """Note that the letter of a record that ``blocks`` is written. False where it was known."""
        blocked = self._keys[self._by_offset[offset]]
        known, blocked.acknowledged = blocked.acknowledged, True
        return not known

    def delivered(self, raw: Fetched) -> None:
        """A record went through: if it replays the rejected one of its key, the key is free."""
        blocked = None if raw.key is None else self._keys.get(raw.key)
        if blocked is not None and raw.offset != self._again and self._replays(raw, blocked):
            self.free(blocked.offset)

    def free(self, offset: int) -> bool:
        """Free the key that the record at ``offset`` blocks. Returns whether that record is resolved now: else its
        letter is not written yet, and it is resolved with that.
        """
        blocked = self._keys.pop(self._by_offset.pop(offset))
        if blocked.acknowledged:
            self._ledger.resolve(offset)
        self.released.extend(blocked.held)
        return blocked.acknowledged

    @staticmethod
    def _replays(raw: Fetched, blocked: _Blocked) -> bool:
        return raw.offset != blocked.offset and bool(raw.headers) and record_id(raw) == blocked.record

    def __len__(self) -> int:
        return len(self._keys)


def waiting(partitions: Iterable[Partition], *, full: bool = False) -> str | None:
    """What waits, in words; None where nothing does. ``full``: only where nothing more is taken."""
    found = []
    for each in partitions:
        keys = each.keys
        if keys and (keys.full or not full):
            what = f"{plural(keys.waiting, 'record')} of {plural(len(keys), 'key')} waiting for a rejected one"
            found.append(f"{each.tp.topic}:{each.tp.partition}: {what}, the first at {each.ledger.watermark}")
    return "; ".join(sorted(found)) or None
