"""The record that the user's code sees, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from google.protobuf.message import Message

from protocontract.kafka.ports import Fetched
from protocontract.violations import Change

if TYPE_CHECKING:
    from protocontract.contract import Contract
    from protocontract.kafka.engine import Engine
    from protocontract.kafka.partition import Partition

M = TypeVar("M", bound=Message)

#: Our headers' common beginning.
PREFIX: Final = "protocontract."
#: ``timestamp_type`` as Kafka numbers it.
TIMESTAMP_TYPES: Final = ("CreateTime", "LogAppendTime")


class RecordId(NamedTuple):
    """Where a record was first read: the idempotency key of its handling. A replay keeps it."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}:{self.partition}:{self.offset}"


def record_id(raw: Fetched) -> RecordId:
    """The original position of a record: that of its first failure if it is a replay, else its own."""
    if raw.headers:
        known = {key: value for key, value in raw.headers if key in _POSITION and value is not None}
        if len(known) == len(_POSITION):
            topic, partition, offset = (known[key] for key in _POSITION)
            # A header that is not what we write is somebody else's.
            if partition.isdigit() and offset.isdigit() and len(offset) < 20 and len(partition) < 11:
                return RecordId(topic.decode("utf-8", "replace"), int(partition), int(offset))
    return RecordId(raw.topic, raw.partition, raw.offset)


_POSITION: Final = (f"{PREFIX}topic", f"{PREFIX}partition", f"{PREFIX}offset")


class Record(Generic[M]):
    """A record that keeps its contract. Used on the thread that iterates over the guard."""

    __slots__ = ("_guard", "_open", "_partition", "changes", "contract", "message", "raw")

    def __init__(
        self,
        guard: Engine[M],
        partition: Partition,
        raw: Fetched,
        contract: Contract[M],
        message: M | None,
        changes: tuple[Change, ...],
    ) -> None:
        self._guard = guard
        self._partition = partition
        self._open = True
        #: The record as the client gave it.
        self.raw: Final = raw
        self.contract: Final = contract
        #: The message, normalised and valid. None for a tombstone under ``tombstones="deliver"``.
        self.message: Final = message
        #: What normalizers changed, with the values before.
        self.changes: Final = changes

    @property
    def topic(self) -> str:
        return self.raw.topic

    @property
    def partition(self) -> int:
        return self.raw.partition

    @property
    def offset(self) -> int:
        return self.raw.offset

    @property
    def key(self) -> bytes | None:
        return self.raw.key

    @property
    def value(self) -> bytes | None:
        """The bytes as they came, before any change."""
        return self.raw.value

    @property
    def headers(self) -> Sequence[tuple[str, bytes | None]]:
        return self.raw.headers

    @property
    def timestamp(self) -> int:
        """Milliseconds since 1970; ``timestamp_type`` says whose clock."""
        return self.raw.timestamp

    @property
    def timestamp_type(self) -> str:
        """``CreateTime`` (the producer's clock) or ``LogAppendTime`` (the broker's)."""
        return timestamp_type(self.raw)

    @property
    def id(self) -> RecordId:
        """Topic, partition and offset at which this record was first read; the same after a replay."""
        return record_id(self.raw)

    @property
    def owned(self) -> bool:
        """Whether this member still has the record's partition. If not, somebody else reads the record again."""
        return self._partition.owned

    def done(self) -> None:
        """Finish the record now: it may be committed. The loop does this when it comes back for the next one."""
        if self._open:
            self._open = False
            self._guard._finish(self)

    def reject(self, reason: str) -> None:
        """Dead-letter the record for a reason of the caller's own.

        The reason is written to a header of the dead letter, its first 1,024 bytes: it must not quote the value.
        """
        if self._open:
            self._open = False
            self._guard._reject(self, "handler.rejected", reason)

    def __repr__(self) -> str:
        return f"<Record {self.topic}:{self.partition}:{self.offset}>"


def timestamp_type(raw: Fetched) -> str:
    """Kafka's name of a record's timestamp type."""
    number = raw.timestamp_type
    return TIMESTAMP_TYPES[number] if number in (0, 1) else "NoTimestampType"
