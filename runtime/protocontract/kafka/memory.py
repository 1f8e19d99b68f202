"""An in-memory log with the consumer and the producer of kafka-python, as far as the guard uses them.

For tests, demonstrations and simulations of faults. It keeps kafka-python's habits, the bad ones too: an eager
rebalance keeps position and pause flag of partitions that come back, a membership that is lost is noticed late, a
producer that met a permanent error fails for ever after, ``send`` refuses what kafka-python refuses.
Everything happens on the threads of the callers.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from protocontract.kafka.client import TopicPartition, errors, offset_to_commit
from protocontract.kafka.memory_producer import Acknowledged, MemoryFuture, MemoryProducer, SendFault

__all__ = [
    "Acknowledged",
    "MemoryConsumer",
    "MemoryFuture",
    "MemoryLog",
    "MemoryProducer",
    "MemoryRecord",
    "SendFault",
]


class MemoryRecord(NamedTuple):
    """A record as a consumer gets it."""

    topic: str
    partition: int
    leader_epoch: int
    offset: int
    timestamp: int
    timestamp_type: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, bytes | None]]


@dataclass(slots=True)
class _PartitionLog:
    records: list[MemoryRecord] = field(default_factory=list)
    start: int = 0
    end: int = 0


@dataclass(slots=True)
class _Topic:
    partitions: list[_PartitionLog]
    max_message_bytes: int
    log_append_time: bool = False


class MemoryLog:
    """Topics, consumer groups and their committed offsets."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._topics: dict[str, _Topic] = {}
        self._groups: dict[str, _Group] = {}
        self._clock = clock
        self._changed = threading.Condition()
        self._held: list[tuple[MemoryFuture, Any]] = []
        #: Called for every send with the topic and the value; returns a fault or None.
        self.on_send: Callable[[str, bytes | None], SendFault | None] | None = None
        #: Every commit that was accepted: group, partition, offset.
        self.commits: list[tuple[str, TopicPartition, int]] = []

    # -- topics

    def create_topic(
        self, name: str, partitions: int = 1, *, max_message_bytes: int = 2**31 - 1, log_append_time: bool = False
    ) -> None:
        """Add a topic."""
        logs = [_PartitionLog() for _ in range(partitions)]
        self._topics[name] = _Topic(logs, max_message_bytes, log_append_time)

    def delete_topic(self, name: str) -> None:
        """Remove a topic and its records."""
        self._topics.pop(name, None)

    def topics(self) -> list[str]:
        """All topics."""
        return sorted(self._topics)

    def append(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None = None,
        headers: Sequence[tuple[str, bytes | None]] = (),
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> MemoryRecord:
        """Write a record as any client could: null keys, null values and null header values are all allowed."""
        found = self._topics[topic]
        if partition is None:
            number = len(found.partitions)
            partition = zlib.crc32(key) % number if key is not None else sum(p.end for p in found.partitions) % number
        log = found.partitions[partition]
        now = int(self._clock() * 1000)
        stamp = now if timestamp_ms is None or found.log_append_time else timestamp_ms
        record = MemoryRecord(
            topic, partition, 0, log.end, stamp, int(found.log_append_time), key, value, list(headers)
        )
        log.records.append(record)
        log.end += 1
        with self._changed:
            self._changed.notify_all()
        return record

    def append_marker(self, topic: str, partition: int = 0) -> None:
        """Write a transaction marker: it takes an offset and is never seen by a consumer."""
        self._topics[topic].partitions[partition].end += 1

    def compact(self, tp: TopicPartition, offsets: Iterable[int]) -> None:
        """Remove records; their offsets stay gaps."""
        gone = set(offsets)
        log = self._topics[tp.topic].partitions[tp.partition]
        log.records = [record for record in log.records if record.offset not in gone]

    def trim(self, tp: TopicPartition, start: int) -> None:
        """Remove everything below ``start``, as retention does."""
        log = self._topics[tp.topic].partitions[tp.partition]
        log.records = [record for record in log.records if record.offset >= start]
        log.start = start

    def records(self, topic: str) -> list[MemoryRecord]:
        """All records of a topic, partition by partition."""
        return [record for log in self._topics[topic].partitions for record in log.records]

    def end(self, tp: TopicPartition) -> int:
        """The offset that the next record will get."""
        return self._topics[tp.topic].partitions[tp.partition].end

    # -- clients

    def consumer(self, *topics: str, group_id: str | None = "group", **config: Any) -> MemoryConsumer:
        """A consumer with kafka-python's configuration names, set up as the guard demands unless said otherwise."""
        merged = {
            "group_id": group_id,
            "client_id": "memory",
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            "max_poll_records": 500,
            "max_poll_interval_ms": 300_000,
            "key_deserializer": None,
            "value_deserializer": None,
            "isolation_level": "read_uncommitted",
            **config,
        }
        return MemoryConsumer(self, topics, merged)

    def producer(self) -> MemoryProducer:
        """A producer."""
        return MemoryProducer(self)

    def committed(self, group_id: str, tp: TopicPartition) -> int | None:
        """A group's committed offset."""
        return self._group(group_id).offsets.get(tp)

    def committed_metadata(self, group_id: str, tp: TopicPartition) -> str:
        """What was written beside a group's committed offset."""
        return self._group(group_id).metadata.get(tp, "")

    def release(self) -> None:
        """Answer the sends that a ``hold`` fault kept waiting."""
        held, self._held = self._held, []
        for future, metadata in held:
            future.success(metadata)

    def evict(self, consumer: MemoryConsumer, *, noticed: bool = True) -> None:
        """Throw a member out, as a session timeout does. ``noticed``: its heartbeat has told it already."""
        self._group(str(consumer.config["group_id"])).remove(consumer)
        consumer._evicted = True
        if noticed:
            consumer._generation, consumer._member_id = -1, ""

    def rebalance(self, group_id: str) -> None:
        """Begin a rebalance without a change of members, as a new partition does."""
        self._group(group_id).begin()

    def _group(self, group_id: str) -> _Group:
        return self._groups.setdefault(group_id, _Group(self))


class _Group:
    """An eager group: every member gives up everything, and gets its share when all have joined."""

    def __init__(self, log: MemoryLog) -> None:
        self.log = log
        self.offsets: dict[TopicPartition, int] = {}
        self.metadata: dict[TopicPartition, str] = {}
        self.members: list[MemoryConsumer] = []
        self.joined: set[int] = set()
        self.generation = 0
        self.preparing = False
        self.shares: dict[int, list[TopicPartition]] = {}
        self._ids = 0

    def begin(self) -> None:
        self.preparing = True
        self.joined.clear()

    def add(self, consumer: MemoryConsumer) -> str:
        self.members.append(consumer)
        self._ids += 1
        self.begin()
        return f"member-{self._ids}"

    def remove(self, consumer: MemoryConsumer) -> None:
        if consumer in self.members:
            self.members.remove(consumer)
            self.begin()

    def join(self, consumer: MemoryConsumer) -> None:
        self.joined.add(id(consumer))
        if self.joined >= {id(member) for member in self.members}:
            self.generation += 1
            self.preparing = False
            self.shares = {id(member): [] for member in self.members}
            topics = sorted({topic for member in self.members for topic in member._topics})
            for topic in topics:
                readers = [member for member in self.members if topic in member._topics]
                found = self.log._topics.get(topic)
                for number in range(len(found.partitions) if found else 0):
                    self.shares[id(readers[number % len(readers)])].append(TopicPartition(topic, number))


class _Metadata(NamedTuple):
    group_id: str
    generation_id: int
    member_id: str


@dataclass(slots=True)
class _Position:
    offset: int | None = None
    paused: bool = False


class MemoryConsumer:
    """The part of ``kafka.KafkaConsumer`` that the guard uses, over a ``MemoryLog``."""

    def __init__(self, log: MemoryLog, topics: Sequence[str], config: dict[str, Any]) -> None:
        self.config = config
        #: Called when a poll finds nothing; without it, such a poll waits for the time given.
        self.on_idle: Callable[[], object] | None = None
        #: Raised by the next poll.
        self.fail_poll: BaseException | None = None
        #: Errors of the next asynchronous commits, first in first out.
        self.fail_commits: list[BaseException] = []
        #: How many records of a partition one poll returns at most; a network's fetch size.
        self.fetch_records: int = 2**31 - 1
        self.closed = False
        self._log = log
        self._topics = set(topics)
        self._listener: Any = None
        self._manual = False
        self._state: dict[TopicPartition, _Position] = {}
        self._generation = -1
        self._member_id = ""
        self._joined = False
        self._evicted = False
        self._revoked_now = False

    @property
    def _group(self) -> _Group:
        return self._log._group(str(self.config["group_id"]))

    # -- subscription

    def subscribe(self, topics: Iterable[str] = (), pattern: str | None = None, listener: Any = None) -> None:
        """Set topics and listener."""
        if pattern is not None:
            raise NotImplementedError("the in-memory consumer subscribes to names only")
        self._topics = set(topics)
        self._listener = listener

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Take partitions without a group's help."""
        self._manual = True
        self._topics = set()
        self._state = {tp: _Position() for tp in partitions}

    def subscription(self) -> set[str] | None:
        """The topics subscribed to."""
        return set(self._topics) or None

    def assignment(self) -> set[TopicPartition]:
        """The partitions held; after an eviction it still lists them, as kafka-python does."""
        return set(self._state)

    def group_metadata(self) -> _Metadata:
        """Generation and member id; (-1, "") outside of the group."""
        return _Metadata(str(self.config["group_id"]), self._generation, self._member_id)

    # -- reading

    def poll(self, timeout_ms: int = 0, max_records: int | None = None) -> dict[TopicPartition, list[MemoryRecord]]:
        """Take part in the group, then fetch."""
        if self.fail_poll is not None:
            error, self.fail_poll = self.fail_poll, None
            raise error
        if not self._manual and not self._ensure_member():
            return {}
        found: dict[TopicPartition, list[MemoryRecord]] = {}
        for tp, state in self._state.items():
            self._settle_position(tp, state)
            if state.paused or state.offset is None:
                continue
            log = self._log._topics[tp.topic].partitions[tp.partition]
            records = [r for r in log.records if r.offset >= state.offset][: self.fetch_records]
            whole = not records or records[-1] is log.records[-1]
            if records:
                found[tp] = records
            state.offset = log.end if whole else records[-1].offset + 1
        if not found:
            if self.on_idle is not None:
                self.on_idle()
            elif timeout_ms > 0:
                with self._log._changed:
                    self._log._changed.wait(timeout_ms / 1000)
        return found

    def _ensure_member(self) -> bool:
        group = self._group
        if self._evicted:
            self._evicted, self._joined = False, False
            self._generation, self._member_id = -1, ""
            lost = set(self._state)
            if lost and self._listener is not None:
                self._listener.on_partitions_lost(lost)
            self._state.clear()
        if not self._joined:
            self._member_id = group.add(self)
            self._joined = True
        if group.preparing:
            if id(self) not in group.joined:
                if not self._revoked_now and self._listener is not None:
                    self._listener.on_partitions_revoked(set(self._state))
                self._revoked_now = True
                group.join(self)
            if group.preparing:
                return False
        if self._generation != group.generation:
            share = group.shares.get(id(self), [])
            # Eager: what comes back keeps position and pause flag.
            self._state = {tp: self._state.get(tp, _Position()) for tp in share}
            self._generation = group.generation
            self._revoked_now = False
            if self._listener is not None:
                self._listener.on_partitions_assigned(set(share))
        return True

    def _settle_position(self, tp: TopicPartition, state: _Position) -> None:
        log = self._log._topics[tp.topic].partitions[tp.partition]
        if state.offset is None:
            state.offset = self._group.offsets.get(tp)
            if state.offset is None:
                if self.config["auto_offset_reset"] == "none":
                    raise errors.NoOffsetForPartitionError({tp})
                state.offset = log.start
        if state.offset < log.start:
            if self.config["auto_offset_reset"] == "none":
                raise errors.OffsetOutOfRangeError({tp: state.offset})
            state.offset = log.start

    def position(self, partition: TopicPartition, timeout_ms: int | None = None) -> int | None:
        """The offset of the next record to be fetched."""
        if partition not in self._state:
            raise errors.IllegalStateError("Partition is not assigned")
        self._settle_position(partition, self._state[partition])
        return self._state[partition].offset

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Fetch from another offset."""
        if partition not in self._state:
            raise ValueError("Unassigned partition")
        self._state[partition].offset = offset

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Fetch from the first record there is."""
        for tp in partitions or tuple(self._state):
            self.seek(tp, self._log._topics[tp.topic].partitions[tp.partition].start)

    def pause(self, *partitions: TopicPartition) -> None:
        """Fetch nothing of these partitions."""
        for tp in partitions:
            self._state[tp].paused = True

    def resume(self, *partitions: TopicPartition) -> None:
        """Fetch again."""
        for tp in partitions:
            self._state[tp].paused = False

    def paused(self) -> set[TopicPartition]:
        """The partitions paused."""
        return {tp for tp, state in self._state.items() if state.paused}

    def highwater(self, partition: TopicPartition) -> int | None:
        """The end of a partition."""
        return self._log.end(partition)

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """The ends of partitions."""
        return {tp: self._log.end(tp) for tp in partitions}

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """The first offsets of partitions."""
        return {tp: self._log._topics[tp.topic].partitions[tp.partition].start for tp in partitions}

    def partitions_for_topic(self, topic: str) -> set[int]:
        """The partitions of a topic; none if it is missing."""
        found = self._log._topics.get(topic)
        return set(range(len(found.partitions))) if found else set()

    # -- commits

    def commit(self, offsets: Mapping[TopicPartition, Any] | None = None, timeout_ms: int | None = None) -> None:
        """Commit. Raises CommitFailedError outside of the group's generation."""
        for tp, offset in (offsets or {}).items():
            self._check_commit()
            if len(offset.metadata.encode()) > 4_096:
                raise errors.OffsetMetadataTooLargeError()
            self._group.offsets[tp] = offset.offset
            self._group.metadata[tp] = offset.metadata
            self._log.commits.append((str(self.config["group_id"]), tp, offset.offset))

    def commit_async(
        self, offsets: Mapping[TopicPartition, Any] | None = None, callback: Callable[..., object] | None = None
    ) -> MemoryFuture:
        """Commit; the future tells."""
        future = MemoryFuture()
        try:
            if self.fail_commits:
                raise self.fail_commits.pop(0)
            self.commit(offsets)
        except errors.KafkaError as error:
            future.failure(error)
        else:
            future.success(None)
        return future

    def _check_commit(self) -> None:
        if self._manual:
            return
        group = self._group
        # While a rebalance is being prepared, a member of the old generation may still commit; once it has joined, not.
        rejoining = group.preparing and id(self) in group.joined
        if self._evicted or self._generation != group.generation or rejoining:
            raise errors.CommitFailedError("not a member of the group's generation")

    def committed(self, partition: TopicPartition, metadata: bool = False, timeout_ms: int | None = None) -> Any:
        """The group's committed offset, with its metadata if asked for; or None."""
        offset = self._group.offsets.get(partition)
        if offset is None or not metadata:
            return offset
        return offset_to_commit(offset, metadata=self._group.metadata.get(partition, ""))

    def close(self, autocommit: bool = True, timeout_ms: int | None = None) -> None:
        """Leave the group."""
        if self.closed:
            return
        self.closed = True
        if self._listener is not None and self._state and not self._manual:
            method = self._listener.on_partitions_lost if self._evicted else self._listener.on_partitions_revoked
            method(set(self._state))
        self._group.remove(self)
        self._state.clear()
