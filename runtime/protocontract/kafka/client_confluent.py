"""confluent-kafka (librdkafka) behind the guard's ports.

What shapes it (seen with 2.16.1):

- A consumer tells neither its configuration nor its subscription. ``Consumer`` below is the same class and remembers
  both.
- A rebalance is told inside ``poll``, and the partitions then start at the committed offset, or where ``assign`` says.
  ``seek`` does not work inside the callback, so what the guard seeks there becomes the start of the assignment.
- What became of a commit without waiting is told to a callback of the configuration, inside ``poll``. One that waits
  has no limit of its own, and from another thread it has to wait while this one polls.
- ``consume`` waits until it has as many records as asked for; so one is polled for, and the rest taken as they are.
- What lies between the last record and the end (transaction markers) shows only as the event of the partition's end.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final, cast

from protocontract.kafka.client_confluent_producers import (
    ASK_WITHIN,
    ConfluentProducer,
    answer_within,
    connection,
    partitions_of,
    producer_factory,
)
from protocontract.kafka.errors import GuardError
from protocontract.kafka.ports import (
    Answer,
    Client,
    ErrorKind,
    FetchedRecord,
    KafkaTimeoutError,
    MemberOf,
    ProducerFactory,
    RebalanceListener,
    TopicPartition,
    register_errors,
)
from protocontract.violations import MissingExtra

try:
    import confluent_kafka as ck
except ImportError as error:
    raise MissingExtra("protocontract.kafka.client_confluent", "confluent-kafka", "confluent") from error

__all__ = ["ConfluentProducer", "Consumer", "of"]

#: Most records that one poll takes: what librdkafka has fetched beyond waits there.
MAX_BATCH: Final = 5_000
#: For how long the answer about the membership is used again, in seconds: it takes 20 us to ask, and it is asked for
#: every record. Within a poll it is always asked anew.
MEMBERSHIP_FOR: Final = 0.05

_UNASSIGNED: Final = MemberOf(-1, "")


class Consumer(ck.Consumer):
    """``confluent_kafka.Consumer`` for a guard: it remembers its configuration and its subscription.

    It joins the group when the guard starts, not before: to subscribe a second time, as the guard must to be told of
    rebalances, would have it leave the group and join again.
    """

    def __init__(self, config: Mapping[str, Any], **more: Any) -> None:
        """``config``: as for ``confluent_kafka.Consumer``. The ends of partitions are reported unless it says no."""
        self.settings: Final[dict[str, Any]] = {"enable.partition.eof": True, **config}
        self.topics: tuple[str, ...] = ()
        self.has_callbacks = False
        #: Told of commits, beside the configuration's own ``on_commit``.
        self.committed_here: Callable[[Any, Sequence[Any]], object] | None = None
        given = self.settings.get("on_commit")

        def on_commit(error: Any, partitions: Sequence[Any]) -> None:
            if self.committed_here is not None:
                self.committed_here(error, partitions)
            if given is not None:
                given(error, partitions)

        super().__init__({**self.settings, "on_commit": on_commit}, **more)

    def subscribe(self, topics: Sequence[str], *args: Any, **callbacks: Any) -> None:
        """Note the topics. Callbacks are refused by the guard: its ``listener`` takes their place."""
        self.topics = tuple(topics)
        self.has_callbacks = bool(args or callbacks)

    def join(self, on_assign: Any, on_revoke: Any, on_lost: Any) -> None:
        """Join the group for the topics noted."""
        super().subscribe(list(self.topics), on_assign=on_assign, on_revoke=on_revoke, on_lost=on_lost)


def of(consumer: Any) -> Client:
    """A consumer as the guard uses it. Raises GuardError where its configuration is not known."""
    if not isinstance(consumer, Consumer):
        raise GuardError(
            "consumer: a confluent_kafka consumer does not tell its configuration; make it with "
            "protocontract.kafka.client_confluent.Consumer, which takes the same arguments and remembers them"
        )

    def producers(given: Mapping[str, Any] | ProducerFactory | None) -> ProducerFactory:
        return given if callable(given) else producer_factory(connection(consumer.settings) if given is None else given)

    port = ConfluentConsumer(consumer)
    return Client(
        name="confluent-kafka",
        consumer=cast(Any, port),
        membership=port.group_metadata,
        # It is told in a poll, and nowhere else.
        rebalancing=lambda: False,
        partition=TopicPartition,
        offset=lambda offset, epoch, metadata: (offset, epoch, metadata),
        producers=producers,
        answer_within=answer_within,
        # librdkafka brings them all.
        missing_codecs=list,
        sleep=time.sleep,
        spelled=lambda name: name.replace("_", "."),
        listener=consumer if consumer.has_callbacks else None,
    )


# ----------------------------------------------------------------------------------------------------------------------
# Errors

_TOO_LARGE: Final = frozenset(("MSG_SIZE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"))
_FORBIDDEN: Final = frozenset(
    (
        "TOPIC_AUTHORIZATION_FAILED",
        "GROUP_AUTHORIZATION_FAILED",
        "CLUSTER_AUTHORIZATION_FAILED",
        "SASL_AUTHENTICATION_FAILED",
        "_AUTHENTICATION",
    )
)
_GAP: Final = frozenset(("_AUTO_OFFSET_RESET", "_NO_OFFSET", "OFFSET_OUT_OF_RANGE", "_LOG_TRUNCATION"))
#: What librdkafka goes on after by itself, and tells as an event.
_TEMPORARY: Final = frozenset(
    (
        "_ALL_BROKERS_DOWN",
        "_TRANSPORT",
        "_TIMED_OUT",
        "_MSG_TIMED_OUT",
        "_TIMED_OUT_QUEUE",
        "_RESOLVE",
        "_QUEUE_FULL",
        "_MAX_POLL_EXCEEDED",
        "_WAIT_COORD",
        "_UNKNOWN_TOPIC",
        "_UNKNOWN_PARTITION",
        "UNKNOWN_TOPIC_OR_PART",
        "REBALANCE_IN_PROGRESS",
        "ILLEGAL_GENERATION",
        "UNKNOWN_MEMBER_ID",
        "COORDINATOR_LOAD_IN_PROGRESS",
        "COORDINATOR_NOT_AVAILABLE",
        "NOT_COORDINATOR",
        "LEADER_NOT_AVAILABLE",
        "NOT_LEADER_FOR_PARTITION",
    )
)


def _code(error: Any) -> Any:
    return error.args[0] if error.args else None


def _name(error: Any) -> str:
    code = _code(error)
    return str(code.name()) if hasattr(code, "name") else type(error).__name__


def _kind(error: Any) -> ErrorKind:
    name = _name(error)
    if name in _TOO_LARGE:
        return "too_large"
    if name in _FORBIDDEN:
        return "forbidden"
    if name in _GAP:
        return "gap"
    code = _code(error)
    return "temporary" if name in _TEMPORARY or (hasattr(code, "retriable") and code.retriable()) else "other"


register_errors(ck.KafkaException, _kind, _name)


# ----------------------------------------------------------------------------------------------------------------------
# The consumer


class ConfluentConsumer:
    """A ``Consumer`` with the guard's habits. Used on one thread."""

    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        settings = consumer.settings
        self.config: Mapping[str, Any] = {
            "group_id": settings.get("group.id"),
            "client_id": settings.get("client.id", "rdkafka"),
            "enable_auto_commit": _is_true(settings.get("enable.auto.commit", True)),
            "auto_offset_reset": _reset(settings.get("auto.offset.reset", settings.get("topic.auto.offset.reset"))),
            "max_poll_interval_ms": int(settings.get("max.poll.interval.ms", 300_000)),
            "session_timeout_ms": int(settings.get("session.timeout.ms", 45_000)),
            "isolation_level": settings.get("isolation.level", "read_committed"),
            "bootstrap_servers": settings.get("bootstrap.servers"),
        }
        #: Whether a rebalance takes and gives single partitions.
        self._incremental = (
            "cooperative" in str(settings.get("partition.assignment.strategy", ""))
            or settings.get("group.protocol") == "consumer"
        )
        self._listener = RebalanceListener()
        #: The next offset of every partition assigned; None while nothing is known.
        self._positions: dict[TopicPartition, int | None] = {}
        self._paused: set[TopicPartition] = set()
        #: While ``assigned`` of the listener runs: where partitions shall start.
        self._starts: dict[TopicPartition, int] | None = None
        self._failure: BaseException | None = None
        self._membership = _UNASSIGNED
        self._membership_at = float("-inf")
        #: Commits without an answer so far: their offsets.
        self._commits: deque[tuple[dict[TopicPartition, int], Answer]] = deque()
        consumer.committed_here = self._committed

    # -- subscription

    def subscribe(self, topics: Iterable[str] = (), pattern: str | None = None, listener: Any = None) -> None:
        """Take over the subscription, with the guard's listener."""
        self._listener = listener
        self._consumer.join(self._on_assign, self._on_revoke, self._on_lost)

    def subscription(self) -> set[str]:
        """The topics, or patterns, subscribed to."""
        return set(self._consumer.topics)

    def assignment(self) -> set[TopicPartition]:
        """The partitions of this member."""
        if not self._consumer.topics and not self._positions:
            # Assigned by hand, before the guard took over.
            for tp in self._consumer.assignment():
                self._positions[TopicPartition(tp.topic, tp.partition)] = tp.offset if tp.offset >= 0 else None
        return set(self._positions)

    def group_metadata(self) -> MemberOf:
        """Generation and member id, as of the last 50 ms."""
        now = time.monotonic()
        if now - self._membership_at >= MEMBERSHIP_FOR:
            self._membership = self._ask_membership()
            self._membership_at = now
        return self._membership

    def _ask_membership(self) -> MemberOf:
        if not self._consumer.topics:
            return _UNASSIGNED
        metadata = self._consumer.consumer_group_metadata()
        return _UNASSIGNED if metadata is None else _membership(bytes(metadata))

    # -- rebalances, inside of poll

    def _on_assign(self, _consumer: Any, given: Sequence[Any]) -> None:
        self._membership_at = float("-inf")
        tps = [TopicPartition(each.topic, each.partition) for each in given]
        if not self._incremental:
            self._positions.clear()
            self._paused.clear()
        starts = self._starts = self._first_offsets(tps)
        self._positions.update(dict.fromkeys(tps))
        try:
            self._listener.on_partitions_assigned(set(tps))
        finally:
            self._starts = None
            assigned = [ck.TopicPartition(*tp, starts.get(tp, ck.OFFSET_STORED)) for tp in tps]
            if self._incremental:
                self._consumer.incremental_assign(assigned)
            else:
                self._consumer.assign(assigned)
            self._positions.update({tp: starts.get(tp) for tp in tps})
            stopped = [ck.TopicPartition(*tp) for tp in tps if tp in self._paused]
            if stopped:
                self._consumer.pause(stopped)

    def _first_offsets(self, tps: Sequence[TopicPartition]) -> dict[TopicPartition, int]:
        """Where partitions begin, as far as the group has an offset: then an empty one has a position too."""
        if not tps:
            return {}
        with contextlib.suppress(ck.KafkaException):
            # Whoever does not answer now is asked again by librdkafka, and `auto.offset.reset` stands behind it.
            found = self._consumer.committed([ck.TopicPartition(*tp) for tp in tps], timeout=ASK_WITHIN)
            return {TopicPartition(each.topic, each.partition): each.offset for each in found if each.offset >= 0}
        return {}

    def _on_revoke(self, _consumer: Any, given: Sequence[Any]) -> None:
        self._membership_at = float("-inf")
        tps = {TopicPartition(each.topic, each.partition) for each in given}
        self._listener.on_partitions_revoked(tps)
        self._forget(tps)

    def _on_lost(self, _consumer: Any, given: Sequence[Any]) -> None:
        self._membership_at = float("-inf")
        tps = {TopicPartition(each.topic, each.partition) for each in given}
        self._listener.on_partitions_lost(tps)
        self._forget(tps)

    def _forget(self, tps: Collection[TopicPartition]) -> None:
        for tp in tps:
            self._positions.pop(tp, None)
            self._paused.discard(tp)

    # -- reading

    def poll(self, timeout_ms: int = 0, max_records: int | None = None) -> dict[TopicPartition, list[FetchedRecord]]:
        """What is there, or arrives within the time. Raises KafkaException for an error that librdkafka reports."""
        if self._failure is not None:
            error, self._failure = self._failure, None
            raise error
        found: dict[TopicPartition, list[FetchedRecord]] = {}
        first = self._consumer.poll(timeout_ms / 1000)
        self._membership_at = float("-inf")
        if first is None:
            return found
        limit = min(max_records or MAX_BATCH, MAX_BATCH)
        self._sort((first, *self._consumer.consume(limit, 0)), found)
        return found

    def _sort(self, messages: Iterable[Any], found: dict[TopicPartition, list[FetchedRecord]]) -> None:
        positions = self._positions
        for message in messages:
            tp = TopicPartition(message.topic(), message.partition())
            error = message.error()
            if error is not None:
                if error.code() == ck.KafkaError._PARTITION_EOF:
                    if tp in positions:
                        positions[tp] = message.offset()
                elif self._failure is None:
                    # Told by the next poll: what is in this one is good. librdkafka goes on after the temporary ones.
                    failure = ck.KafkaException(error)
                    self._failure = None if _kind(failure) == "temporary" else failure
                continue
            if tp not in positions:
                # Of an assignment that ended within this very poll.
                continue
            kind, stamp = message.timestamp()
            record = FetchedRecord(
                *tp,
                message.leader_epoch(),
                message.offset(),
                stamp,
                # librdkafka counts from "not available".
                kind - 1,
                message.key(),
                message.value(),
                message.headers() or (),
            )
            batch = found.get(tp)
            if batch is None:
                batch = found[tp] = []
            batch.append(record)
            positions[tp] = record.offset + 1

    def position(self, partition: TopicPartition, timeout_ms: int | None = None) -> int | None:
        """The offset of the next record to be polled; None before the first."""
        return self._positions.get(partition)

    def seek(self, partition: TopicPartition, offset: int) -> None:
        """Read on at another offset; inside of a rebalance, begin there."""
        if self._starts is not None:
            self._starts[partition] = offset
            return
        deadline = time.monotonic() + 1.0
        while True:
            try:
                self._consumer.seek(ck.TopicPartition(*partition, offset))
                break
            except ck.KafkaException as error:
                # Directly after an assignment the partition cannot be sought yet.
                if _name(error) != "_STATE" or time.monotonic() >= deadline:
                    raise
                time.sleep(0.01)
        self._positions[partition] = offset

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Read on at the first record there is."""
        for tp, offset in self.beginning_offsets(partitions).items():
            self.seek(tp, offset)

    def pause(self, *partitions: TopicPartition) -> None:
        """Deliver nothing of these."""
        self._paused |= set(partitions)
        if self._starts is None:
            self._consumer.pause([ck.TopicPartition(*tp) for tp in partitions])

    def resume(self, *partitions: TopicPartition) -> None:
        """Deliver again."""
        self._paused -= set(partitions)
        if self._starts is None:
            self._consumer.resume([ck.TopicPartition(*tp) for tp in partitions])

    def paused(self) -> set[TopicPartition]:
        """The partitions paused."""
        return set(self._paused)

    # -- offsets of the log

    def highwater(self, partition: TopicPartition) -> int | None:
        """The end of a partition as of the last fetch."""
        _, high = self._consumer.get_watermark_offsets(ck.TopicPartition(*partition), cached=True)
        return high if high >= 0 else None

    def _watermarks(
        self, partitions: Iterable[TopicPartition], timeout_ms: int | None
    ) -> dict[TopicPartition, tuple[int, int]]:
        timeout = ASK_WITHIN if timeout_ms is None else timeout_ms / 1000
        found = {}
        for tp in partitions:
            marks = self._consumer.get_watermark_offsets(ck.TopicPartition(*tp), timeout=timeout)
            if marks is None:
                raise KafkaTimeoutError(f"no offsets of {tp.topic}:{tp.partition}")
            found[tp] = marks
        return found

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """The ends of partitions."""
        return {tp: high for tp, (_, high) in self._watermarks(partitions, timeout_ms).items()}

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: int | None = None
    ) -> dict[TopicPartition, int]:
        """The first offsets of partitions."""
        return {tp: low for tp, (low, _) in self._watermarks(partitions, timeout_ms).items()}

    def partitions_for_topic(self, topic: str) -> set[int]:
        """The partitions of a topic; none if it is missing."""
        return partitions_of(self._consumer, topic)

    # -- commits

    def committed(self, partition: TopicPartition, metadata: bool = False, timeout_ms: int | None = None) -> Any:
        """The group's committed offset, with its metadata if asked for; or None."""
        timeout = ASK_WITHIN if timeout_ms is None else timeout_ms / 1000
        (found,) = self._consumer.committed([ck.TopicPartition(*partition)], timeout=timeout)
        if found.error is not None:
            raise ck.KafkaException(found.error)
        if found.offset < 0:
            return None
        return found if metadata else found.offset

    def commit_async(self, offsets: Mapping[TopicPartition, Any] | None = None, callback: Any = None) -> Answer:
        """Commit without waiting; a later poll brings the answer."""
        answer = Answer()
        wanted = dict(offsets or {})
        try:
            self._consumer.commit(offsets=_to_commit(wanted), asynchronous=True)
        except ck.KafkaException as error:
            answer.failure(error)
        else:
            self._commits.append(({tp: offset for tp, (offset, _, _) in wanted.items()}, answer))
        return answer

    def _committed(self, error: Any, partitions: Sequence[Any]) -> None:
        """What a poll tells of a commit without waiting."""
        offsets = {TopicPartition(each.topic, each.partition): each.offset for each in partitions}
        for place, (sent, answer) in enumerate(self._commits):
            if sent == offsets:
                del self._commits[place]
                error = error or next((each.error for each in partitions if each.error is not None), None)
                if error is None:
                    answer.success()
                else:
                    answer.failure(ck.KafkaException(error))
                return

    def commit(self, offsets: Mapping[TopicPartition, Any] | None = None, timeout_ms: int | None = None) -> None:
        """Commit and wait for the answer. Raises KafkaTimeoutError where none comes within the time."""
        told: SimpleQueue[BaseException | None] = SimpleQueue()

        def commit() -> None:
            try:
                for each in self._consumer.commit(offsets=_to_commit(offsets or {}), asynchronous=False):
                    if each.error is not None:
                        raise ck.KafkaException(each.error)
            except Exception as error:
                # Whatever it is, it is the answer.
                told.put(error)
            else:
                told.put(None)

        # It has no limit of its own.
        threading.Thread(target=commit, daemon=True, name="protocontract-commit").start()
        try:
            error = told.get(timeout=None if timeout_ms is None else timeout_ms / 1000)
        except Empty:
            raise KafkaTimeoutError("the commit was not answered") from None
        if error is not None:
            raise error

    def close(self, autocommit: bool = True, timeout_ms: int | None = None) -> None:
        """Leave the group."""
        # It would call the listener once more.
        self._listener = RebalanceListener()
        # It has no limit of its own either, and waits for the broker.
        leaving = threading.Thread(target=self._consumer.close, daemon=True, name="protocontract-leaving")
        leaving.start()
        leaving.join(None if timeout_ms is None else timeout_ms / 1000)


def _to_commit(offsets: Mapping[TopicPartition, tuple[int, int, str]]) -> list[Any]:
    return [
        ck.TopicPartition(*tp, offset, metadata, *((epoch,) if epoch >= 0 else ()))
        for tp, (offset, epoch, metadata) in offsets.items()
    ]


def _membership(metadata: bytes) -> MemberOf:
    """Generation and member id from librdkafka's text form of a membership.

    ``CGMDv2:``, the generation as a 32-bit number, then group id and member id, each with a zero behind it.
    """
    if not metadata.startswith(b"CGMDv2:") or len(metadata) < 11:
        # A form that is not known tells of every change at least.
        return MemberOf(0, metadata.hex())
    generation = int.from_bytes(metadata[7:11], "little", signed=True)
    parts = metadata[11:].split(b"\0")
    return MemberOf(generation, parts[1].decode("utf-8", "replace") if len(parts) > 1 else "")


def _is_true(value: object) -> bool:
    return value is True or str(value).lower() in ("true", "1", "t")


def _reset(value: object) -> object:
    # librdkafka has several words for each.
    return {"smallest": "earliest", "beginning": "earliest", "error": "none", None: "latest"}.get(
        cast("str | None", value), value
    )
