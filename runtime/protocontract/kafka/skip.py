"""Moving a consumer group past one record that stops it, because an operator decided so, and keeping who and why.

What can be read of the record is written to the dead-letter topic first (rule ``operator.skipped``, with the reason and
who gave it), and only then the group goes on: so the record is dead-lettered, not lost. A batch that cannot be read is
skipped as a whole, since the broker hands it out as a whole; its letter says which offsets it held, and holds nothing.

Where the group has no members, the committed offset is moved. Where it has, only they may write, and the one that has
the partition is asked (``skipping``).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final, Protocol

from protocontract.contract import Contract
from protocontract.kafka import client
from protocontract.kafka.connection import Cluster
from protocontract.kafka.courier import Courier, Parcel
from protocontract.kafka.errors import GuardError
from protocontract.kafka.halting import halted_by, read_metadata
from protocontract.kafka.letters.dead_letter import (
    SKIPPED_AT,
    SKIPPED_BY,
    SKIPPED_UNTIL,
    Letter,
    Provenance,
    bounded,
    dead_letter,
    moment_header,
    own_violation,
    truncated,
)
from protocontract.kafka.letters.reading import Restored, moment
from protocontract.kafka.outbox import TRUNCATED_SIZES
from protocontract.kafka.ports import Fetched, TopicPartition
from protocontract.kafka.record import RecordId

#: Rule of the letters of skipped records.
RULE: Final = "operator.skipped"
#: Seconds to wait for the record.
PATIENCE: Final = 30.0
_KIND: Final = "protocontract.skip"


class Refused(Exception):
    """The record is not one that may be skipped; the message says why."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a partition stands, and what comes next there."""

    record: RecordId
    #: What the group has committed, or the begin of the partition.
    start: int
    #: The record; None where it is in a batch that cannot be read.
    raw: Fetched | None
    #: Where the group goes on after it.
    until: int
    #: The metadata beside the committed offset.
    metadata: str = ""
    #: Class of the error with which the batch was refused.
    trouble: str = ""

    @property
    def halted(self) -> str:
        """Why the partition is halted; empty where it is not."""
        return halted_by(self.metadata)


def look(where: Cluster, record: RecordId, group: str) -> Standing:
    """What the group's next record is. Raises Refused where it is another one than ``record``, GuardError."""
    tp = client.TopicPartition(record.topic, record.partition)
    name = f"{record.topic}:{record.partition}"
    with where.reader(group) as consumer:
        try:
            if record.partition not in (consumer.partitions_for_topic(record.topic) or ()):
                raise GuardError(f"{name} does not exist")
            begin, end = consumer.beginning_offsets([tp])[tp], consumer.end_offsets([tp])[tp]
            committed = consumer.committed(tp, metadata=True, timeout_ms=10_000)
        except client.errors.KafkaError as error:
            raise GuardError(f"{name} cannot be asked about ({type(error).__name__})") from None
    start = begin if committed is None else max(begin, committed.offset)
    metadata = "" if committed is None else committed.metadata or ""
    if record.offset < start:
        raise Refused(f"{record} is done: {group} goes on at {start}")
    if record.offset >= end:
        raise Refused(f"{record} is not there yet: {name} ends at {end}")
    raw, trouble, batch = _peek(where, tp, start, end)
    if raw is not None:
        if raw.offset != record.offset:
            raise Refused(f"{name} stands before {raw.offset}, not before {record.offset}; skip that one, or nothing")
        return Standing(record, start, raw, raw.offset + 1, metadata)
    if batch is None:
        raise Refused(f"there is no record in {name} from {start} up to its end")
    first, last = batch
    if not first <= start <= last < end:
        raise GuardError(f"{name}: the batch at {start} cannot be read, and not even where it ends ({trouble})")
    if not start <= record.offset <= last:
        raise Refused(
            f"{name} stands before {start}, in a batch that cannot be read ({trouble}); {record.offset} is not in it"
        )
    return Standing(record, start, None, last + 1, metadata, trouble)


def _peek(
    where: Cluster, tp: TopicPartition, start: int, end: int
) -> tuple[Fetched | None, str, tuple[int, int] | None]:
    """The first record from ``start`` on; or the error, and first and last offset of the batch that gave it."""
    # A consumer of its own: after an error from decoding, kafka-python's must not be polled again.
    with where.reader() as consumer, _noted_batches() as batches:
        consumer.assign([tp])
        consumer.seek(tp, start)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                for records in consumer.poll(500, max_records=1).values():
                    for raw in records:
                        return raw, "", None
                if (consumer.position(tp) or 0) >= end:
                    return None, "", None
            except Exception as error:
                # Whatever it is, it came out of decoding, unless the client calls it temporary.
                if client.is_retriable(error) and not isinstance(error, client.errors.CorruptRecordError):
                    continue
                kind = type(error).__name__
                if isinstance(error, client.errors.UnsupportedCodecError):
                    raise GuardError(
                        f"{tp.topic}:{tp.partition} is compressed in a way that this installation cannot read, which "
                        "says nothing about the records; install what kafka-python needs"
                    ) from None
                if not batches or client.is_forbidden(error) or client.is_gap(error):
                    raise GuardError(f"{tp.topic}:{tp.partition} cannot be read ({kind})") from None
                return None, kind, batches[-1]
    raise GuardError(f"nothing came from {tp.topic}:{tp.partition} for {PATIENCE:.0f} s")


@contextmanager
def _noted_batches() -> Iterator[list[tuple[int, int]]]:
    """First and last offset of the batches that the client begins to read, from their headers.

    No public way of kafka-python 3.0.12 tells how far a batch reaches that it cannot read.
    """
    # It is made available at run time, where a type checker does not see it.
    memory_records: Any = import_module("kafka.record.memory_records")
    known: Any = memory_records.DefaultRecordBatch
    noted: list[tuple[int, int]] = []

    class Noting(known):  # type: ignore[misc]  # an untyped base class
        """Notes where it is in the log."""

        __slots__ = ()

        def __init__(self, buffer: Any) -> None:
            super().__init__(buffer)
            noted.append((self.base_offset, self.last_offset))

    memory_records.DefaultRecordBatch = Noting
    try:
        yield noted
    finally:
        memory_records.DefaultRecordBatch = known


# ----------------------------------------------------------------------------------------------------------------------


def skipped_letter(
    standing: Standing,
    topic: str,
    contract: Contract[Any],
    provenance: Provenance,
    *,
    by: str,
    reason: str,
    now: float,
) -> Letter:
    """The dead letter of a skipped record. ``now`` is in seconds since 1970."""
    record = standing.record
    raw: Any = standing.raw
    if raw is None:
        raw = Restored(record.topic, record.partition, standing.start, None, -1, -1, None, None, [])
    violation = own_violation(contract, RULE, "an operator let the guard skip the record")
    letter = dead_letter(raw, topic, contract, (violation,), provenance, reason=reason, now=now)
    ours = [(SKIPPED_BY, bounded(by)), (SKIPPED_AT, moment_header(now))]
    if standing.raw is None:
        ours.append((SKIPPED_UNTIL, b"%d" % standing.until))
    return replace(letter, headers=letter.headers + ours)


def write_letter(courier: Courier, letter: Letter) -> str:
    """Write the letter, cut where its topic takes no such size. Returns where it lies. Raises GuardError."""
    courier.open([letter.topic])
    answer: Any = None
    for size in (None, *TRUNCATED_SIZES):
        cut = letter if size is None else truncated(letter, size)
        (answer,) = courier.deliver([Parcel(cut.topic, cut.key, cut.value, cut.headers)])
        if not isinstance(answer, BaseException):
            return f"{answer.topic}:{answer.partition}:{answer.offset}"
        if not client.is_too_large(answer):
            break
    raise GuardError(
        f"topic {letter.topic} did not take the dead letter ({type(answer).__name__}); nothing is skipped. "
        "With --without-letter the record is skipped without one"
    )


class Way(Protocol):
    """How a group is moved past a record."""

    def check(self, standing: Standing) -> None:
        """Look whether it can be, before anything is written. Raises GuardError or Refused."""

    def move(self, standing: Standing, by: str, reason: str) -> None:
        """Go on after the record. A halt stays one. Raises GuardError or Refused."""


class Idle:
    """The way past the record of a group without members: its committed offset is moved."""

    def __init__(self, where: Cluster, group: str) -> None:
        self._where = where
        self._group = group

    def check(self, standing: Standing) -> None:
        """Find out whether the group has members, by committing what is committed. Raises GuardError."""
        self._commit(standing, standing.start, standing.metadata)

    def move(self, standing: Standing, by: str, reason: str) -> None:
        """Go on after the record. A halt stays one. Raises GuardError."""
        # The broker takes 4,096 bytes, and JSON writes some characters as six.
        told = {"kind": _KIND, "record": str(standing.record), "by": by[:100], "reason": reason[:400]}
        metadata = json.dumps({**told, "at": moment(int(time.time() * 1000))})
        self._commit(standing, standing.until, standing.metadata if standing.halted else metadata)

    def _commit(self, standing: Standing, offset: int, metadata: str) -> None:
        record = standing.record
        tp = client.TopicPartition(record.topic, record.partition)
        with self._where.reader(self._group) as consumer:
            try:
                consumer.assign([tp])
                consumer.commit({tp: client.offset_to_commit(offset, metadata=metadata)}, timeout_ms=10_000)
            except client.errors.KafkaError as error:
                if has_members(error):
                    raise GuardError(members_of(self._group)) from None
                raise GuardError(f"{self._group} cannot commit ({type(error).__name__})") from None


def has_members(error: BaseException) -> bool:
    """Whether a commit was refused because the group has members."""
    kinds = (
        client.errors.CommitFailedError,
        client.errors.UnknownMemberIdError,
        client.errors.IllegalGenerationError,
        client.errors.RebalanceInProgressError,
    )
    return isinstance(error, kinds)


def members_of(group: str) -> str:
    """What to say then."""
    return (
        f"{group} has running members, and only they may write; use --http of each "
        "(one with --instance that was stopped is a member until its session times out)"
    )


def skipped_by(metadata: str) -> str:
    """What the metadata of a committed offset tells of a skip: "" if nothing."""
    found = read_metadata(metadata, _KIND)
    if found is None:
        return ""
    return f"{found.get('record')} by {found.get('by')} at {found.get('at')}: {found.get('reason')}"


def skip(
    standing: Standing,
    way: Way,
    letter: Callable[[], str] | None,
    *,
    by: str,
    reason: str,
) -> str | None:
    """Skip a record: look whether it can be done, write its letter, go on. Returns where the letter lies.

    ``way``: ``Idle``, or a running guard (``skip_command.Running``). ``letter`` None: none is written.
    """
    way.check(standing)
    lies = None if letter is None else letter()
    way.move(standing, by, reason)
    return lies
