"""What may be committed: the bookkeeping of one partition, and nothing else. No client, no clock, no input or output.

A record is *taken* when the guard begins with it, and *resolved* when its handler is done or its dead letter is
acknowledged. Records are taken in the order of the log and resolved in any order. The watermark is the first offset
that is not resolved: everything below it may be committed, nothing above.
"""

from __future__ import annotations

from collections import deque


class PartitionLedger:
    """The books of one partition, from the moment it is assigned until it is taken away."""

    __slots__ = ("_open", "_resolved", "committed", "next")

    def __init__(self) -> None:
        #: Offsets taken and not known to be below the watermark, in the order of the log.
        self._open: deque[int] = deque()
        #: Those of ``_open`` that are resolved: their turn comes when all before them are.
        self._resolved: set[int] = set()
        #: The first offset that nobody has taken. None until the partition's position is known.
        self.next: int | None = None
        #: The offset last known to be committed, or the first record taken. None where the books begin with a position:
        #: that is committed too, so that no lag stays behind transaction markers.
        self.committed: int | None = None

    @property
    def watermark(self) -> int | None:
        """The offset that may be committed: the first one that is not resolved. None while nothing is known."""
        return self._open[0] if self._open else self.next

    @property
    def open(self) -> int:
        """How many records are taken and not resolved."""
        return len(self._open) - len(self._resolved)

    @property
    def span(self) -> int:
        """How many offsets the books hold: from the first open one to the last one taken."""
        return len(self._open)

    def begin(self, offset: int) -> None:
        """Set where the books begin; later calls change nothing."""
        if self.next is None:
            self.next = self.committed = offset

    def take(self, offset: int) -> bool:
        """Begin with a record. False when it was taken before: it is read again, and in good hands."""
        if self.next is None:
            self.begin(offset)
        elif offset < self.next:
            return False
        self.next = offset + 1
        self._open.append(offset)
        return True

    def put_back(self, offset: int) -> None:
        """Give back the record that was taken last: it will be taken again."""
        if not self._open or self._open[-1] != offset:
            raise ValueError(f"offset {offset} was not taken last")
        self._open.pop()
        self.next = offset

    def resolve(self, offset: int) -> bool:
        """Finish with a record. False when it was finished before (an acknowledgement that came twice)."""
        pending = self._open
        if not pending or offset < pending[0]:
            return False
        if offset >= (self.next or 0):
            raise ValueError(f"offset {offset} was never taken; the next is {self.next}")
        if offset == pending[0]:
            pending.popleft()
            resolved = self._resolved
            while resolved and pending[0] in resolved:
                resolved.discard(pending.popleft())
            return True
        if offset in self._resolved:
            return False
        self._resolved.add(offset)
        return True

    def read_to(self, position: int) -> None:
        """The consumer's position, when nothing below it waits to be taken.

        It lies above the last record's offset where the log has gaps or transaction markers; committing it leaves no
        lag behind.
        """
        if self.next is None or position > self.next:
            self.next = position

    def to_commit(self) -> int | None:
        """The watermark, if it is above what is committed."""
        mark = self.watermark
        if mark is None or (self.committed is not None and mark <= self.committed):
            return None
        return mark

    def committed_to(self, offset: int) -> None:
        """Note a commit that the broker acknowledged. The committed offset never goes back here."""
        if self.committed is None or offset > self.committed:
            self.committed = offset
