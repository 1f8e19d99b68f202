"""The broker's logs as they lie on disk: who appended what and when, what was committed, who had which partition.

No client tells these things: a consumer sees records, but not which producer session wrote them, and neither the
history of a group nor that of its offsets. A file can also be read while its broker is stopped. The formats are those
of Kafka's record batches (version 2) and of the topic ``__consumer_offsets``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

# Of a batch: base offset, length from here; leader epoch, magic, checksum, attributes, last offset's distance, first
# and last time, producer id, its epoch, first sequence number, number of records.
_HEAD: Final = struct.Struct(">qi")
_BATCH: Final = struct.Struct(">ibIhiqqqhii")
_CONTROL, _TRANSACTIONAL, _LOG_APPEND_TIME = 0x20, 0x10, 0x08


class Batch(NamedTuple):
    """A batch of records. Times are milliseconds since 1970."""

    offset: int
    last_offset: int
    attributes: int
    first_time: int
    last_time: int
    producer: int
    epoch: int
    size: int
    data: bytes

    @property
    def is_control(self) -> bool:
        """Whether it is a transaction's marker."""
        return bool(self.attributes & _CONTROL)

    @property
    def is_transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return bool(self.attributes & _TRANSACTIONAL)

    def records(self) -> Iterator[tuple[int, bytes | None, bytes | None]]:
        """Time, key and value of each record. Raises ValueError where the batch is compressed."""
        if self.attributes & 7:
            raise ValueError("a compressed batch; expected none in the broker's own topics")
        reader = Reader(self.data)
        for _ in range(self.size):
            end = reader.varint() + reader.at
            reader.skip(1)
            delta = reader.varint()
            reader.varint()
            key, value = reader.var_bytes(), reader.var_bytes()
            time = self.last_time if self.attributes & _LOG_APPEND_TIME else self.first_time + delta
            yield time, key, value
            reader.at = end


class Reader:
    """Kafka's primitive types, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def skip(self, count: int) -> None:
        """Pass over bytes."""
        self.at += count

    def number(self, code: str) -> int:
        """A big-endian number by its struct code."""
        (value,) = struct.unpack_from(f">{code}", self.data, self.at)
        self.at += struct.calcsize(f">{code}")
        return int(value)

    def take(self, count: int) -> bytes:
        """So many bytes."""
        self.at += count
        return self.data[self.at - count : self.at]

    def unsigned(self) -> int:
        """A varint."""
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def varint(self) -> int:
        """A zigzag varint."""
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def var_bytes(self) -> bytes | None:
        """Bytes with a varint length before them."""
        length = self.varint()
        return None if length < 0 else self.take(length)

    def text(self, *, compact: bool = False) -> str | None:
        """A nullable string."""
        length = self.unsigned() - 1 if compact else self.number("h")
        return None if length < 0 else self.take(length).decode()

    def blob(self, *, compact: bool = False) -> bytes:
        """Bytes with a length before them."""
        length = self.unsigned() - 1 if compact else self.number("i")
        return self.take(max(length, 0))

    def count(self, *, compact: bool = False) -> int:
        """The length of an array."""
        return self.unsigned() - 1 if compact else self.number("i")


class LogFile:
    """The log of one partition, read on from where it was read last."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[Path, int] = {}

    def batches(self) -> Iterator[Batch]:
        """The batches that are new."""
        for path in sorted(self._folder.glob("*.log")):
            start = self._read.get(path, 0)
            with path.open("rb") as file:
                file.seek(start)
                data = file.read()
            at = 0
            while len(data) - at >= _HEAD.size + _BATCH.size:
                offset, length = _HEAD.unpack_from(data, at)
                end = at + _HEAD.size + length
                # A file may be longer than what was written to it, and the last batch may be on its way.
                if length < _BATCH.size or end > len(data):
                    break
                _, magic, _, attributes, last, first_time, last_time, producer, epoch, _, count = _BATCH.unpack_from(
                    data, at + _HEAD.size
                )
                if magic != 2:
                    raise ValueError(f"a batch of format {magic}; expected 2")
                body = data[at + _HEAD.size + _BATCH.size : end]
                yield Batch(offset, offset + last, attributes, first_time, last_time, producer, epoch, count, body)
                at = end
                self._read[path] = start + at


class Commit(NamedTuple):
    """An offset that was committed: the first one that is not read. ``position`` is its place in the broker's log."""

    position: int
    time: int
    partition: int
    offset: int


class Generation(NamedTuple):
    """Who had which partitions, from ``time`` on. Members by their member id: client id and partitions."""

    position: int
    time: int
    number: int
    members: dict[str, tuple[str, frozenset[int]]]

    def owners(self) -> dict[int, tuple[str, str]]:
        """The member id and the client id of each partition's owner."""
        return {partition: (member, client) for member, (client, mine) in self.members.items() for partition in mine}

    def clients(self) -> set[str]:
        """The client ids of members that have a partition."""
        return {client for client, mine in self.members.values() if mine}


@dataclass
class GroupHistory:
    """What ``__consumer_offsets`` says about one group and one topic, in the order of the log."""

    group: str
    topic: str
    log: LogFile
    commits: list[Commit] = field(default_factory=list)
    generations: list[Generation] = field(default_factory=list)
    committed: dict[int, int] = field(default_factory=dict)
    #: Offsets in a transaction that is not decided, by producer id.
    undecided: dict[int, list[Commit]] = field(default_factory=dict)

    def update(self) -> None:
        """Read what is new."""
        for batch in self.log.batches():
            if batch.is_control:
                # The marker's key: version, then 0 for abort or 1 for commit.
                (_, key, _) = next(batch.records())
                decided = self.undecided.pop(batch.producer, [])
                if key is not None and struct.unpack_from(">hh", key)[1] == 1:
                    for each in decided:
                        self._add(each._replace(position=batch.offset, time=batch.last_time))
                continue
            for position, (time, key, value) in enumerate(batch.records(), start=batch.offset):
                if key is None or value is None:
                    continue
                commit = self._commit(position, time, key, value)
                if commit is not None and batch.is_transactional:
                    self.undecided.setdefault(batch.producer, []).append(commit)
                elif commit is not None:
                    self._add(commit)
                self._generation(position, time, key, value)

    @property
    def resolved(self) -> int:
        """The sum of the committed offsets."""
        return sum(self.committed.values())

    def _add(self, commit: Commit) -> None:
        self.commits.append(commit)
        self.committed[commit.partition] = commit.offset

    def _commit(self, position: int, time: int, key: bytes, value: bytes) -> Commit | None:
        reader = Reader(key)
        if reader.number("h") not in (0, 1) or (reader.text(), reader.text()) != (self.group, self.topic):
            return None
        partition = reader.number("i")
        reader = Reader(value)
        reader.skip(2)
        return Commit(position, time, partition, reader.number("q"))

    def _generation(self, position: int, time: int, key: bytes, value: bytes) -> None:
        reader = Reader(key)
        if reader.number("h") != 2 or reader.text() != self.group:
            return
        self.generations.append(_read_generation(position, time, value, self.topic))


class Decision(NamedTuple):
    """What a transaction coordinator has written: that it ends a transaction, and how."""

    producer: int
    epoch: int
    time: int
    committed: bool
    #: Whether it holds the end for complete: every partition has its marker, as far as the coordinator knows.
    complete: bool


#: States of a transaction in ``__transaction_state``: whether it is committed, whether its end is complete.
_ENDS: Final = {2: (True, False), 3: (False, False), 4: (True, True), 5: (False, True)}


@dataclass
class Decisions:
    """What ``__transaction_state`` says about the ends of transactions."""

    log: LogFile
    #: The last decision about each producer id.
    last: dict[int, Decision] = field(default_factory=dict)

    def update(self) -> None:
        """Read what is new."""
        for batch in self.log.batches():
            for time, _, value in batch.records():
                if value is None:
                    continue
                reader = Reader(value)
                reader.skip(2)
                producer, epoch = reader.number("q"), reader.number("h")
                reader.skip(4)
                end = _ENDS.get(reader.number("b"))
                if end is not None:
                    self.last[producer] = Decision(producer, epoch, time, *end)


def without_markers(history: GroupHistory, decisions: Decisions, before: int) -> list[Decision]:
    """The transactions that hold offsets of the group and that their coordinator has ended, as it believes.

    Only those that it ended before ``before`` (milliseconds since 1970): a marker may still be on its way to the disk.
    """
    return [
        decision
        for producer, commits in history.undecided.items()
        if (decision := decisions.last.get(producer)) is not None
        and decision.complete
        and commits[-1].time <= decision.time < before
    ]


def _read_generation(position: int, time: int, value: bytes, topic: str) -> Generation:
    reader = Reader(value)
    version = reader.number("h")
    compact = version >= 4
    reader.text(compact=compact)
    number = reader.number("i")
    reader.text(compact=compact)
    reader.text(compact=compact)
    if version >= 2:
        reader.skip(8)
    members: dict[str, tuple[str, frozenset[int]]] = {}
    for _ in range(reader.count(compact=compact)):
        member = reader.text(compact=compact) or ""
        if version >= 3:
            reader.text(compact=compact)
        client = reader.text(compact=compact) or ""
        reader.text(compact=compact)
        reader.skip(8 if version >= 1 else 4)
        reader.blob(compact=compact)
        members[member] = (client, _read_assignment(reader.blob(compact=compact), topic))
        if compact:
            reader.skip(1)
    return Generation(position, time, number, members)


def _read_assignment(data: bytes, topic: str) -> frozenset[int]:
    if not data:
        return frozenset()
    reader = Reader(data)
    reader.skip(2)
    found: set[int] = set()
    for _ in range(reader.count()):
        name = reader.text()
        partitions = {reader.number("i") for _ in range(reader.count())}
        if name == topic:
            found |= partitions
    return frozenset(found)


class Written(NamedTuple):
    """A batch of data: its offsets, and the producer session (id, epoch) that wrote it."""

    first: int
    last: int
    session: tuple[int, int]
    #: Whether its transaction has an end of its own in this log; True without a transaction.
    ended: bool


def written(folder: Path) -> list[Written]:
    """The batches of data in a partition's log.

    Before a producer's epoch changes, the transaction coordinator ends the open transaction in every partition. A
    batch after which the same producer id comes back with another epoch, and no marker between, is one of which it did
    not: Kafka 4.3.1 skips the partitions that have no leader at that moment, which are those of a broker that was
    killed and is not admitted again. The next marker of that producer then decides about these records.
    """
    found: list[Written] = []
    unended: dict[int, list[int]] = {}
    for batch in LogFile(folder).batches():
        if batch.is_control:
            unended.pop(batch.producer, None)
            continue
        places = unended.setdefault(batch.producer, []) if batch.is_transactional else []
        if places and found[places[-1]].session[1] != batch.epoch:
            for place in places:
                found[place] = found[place]._replace(ended=False)
            places.clear()
        places.append(len(found))
        found.append(Written(batch.offset, batch.last_offset, (batch.producer, batch.epoch), ended=True))
    return found


def empty_history(data: Path, group: str, topic: str) -> GroupHistory:
    """The history of a group, to be read from the beginning."""
    return GroupHistory(group, topic, LogFile(data / "__consumer_offsets-0"))
