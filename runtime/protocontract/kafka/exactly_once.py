"""Exactly once, Kafka to Kafka: what ``protocontract guard --exactly-once`` does.

Good records, dead letters and the offsets of what was read are one transaction: a reader of committed records sees all
of it or nothing, whatever process dies. Source, sink and dead letters are topics of one cluster.

A transaction ends before the next poll, and it is committed for the member that the poll left which gave its records:
``group_metadata()`` is taken directly after that poll. The live value would do harm. After this member has left the
group it is (-1, ""), which a broker accepts without asking whose the partitions are. What a transaction could not
commit is read again from the group's committed offsets, after the next producer's first request has ended it.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final, cast

from protocontract.kafka import client
from protocontract.kafka.client import Consumer, Fetched, Membership, TopicPartition
from protocontract.kafka.consumer_checks import check_config
from protocontract.kafka.dead_letter import (
    Letter,
    Provenance,
    dead_letter,
    error_class,
    for_another_group,
    group_header,
    own_violation,
    rule_label,
    truncated,
)
from protocontract.kafka.errors import DeadLetterError, GuardError, SinkError, SourceError
from protocontract.kafka.forward import SinkEncoding, sink_letter
from protocontract.kafka.judge import EncodingChoice, Judge, TopicJudge
from protocontract.kafka.outbox import TRUNCATED_SIZES, TooLarge
from protocontract.kafka.stats import GuardStats, PartitionStats
from protocontract.kafka.transaction import Disturbed, TransactionFailed, Transactions

if TYPE_CHECKING:
    from protocontract.contract import Contract
    from protocontract.violations import Violation

log: Final = logging.getLogger("protocontract.kafka")

#: Bounds of one transaction: records, bytes sent, and seconds in which it is filled. The coordinator aborts it after
#: ten seconds; and readers of committed records wait for its end.
MAX_RECORDS: Final = 10_000
MAX_BYTES: Final = 16 * 1024 * 1024
MAX_SECONDS: Final = 1.0
#: How long one poll waits for records: the longest time that ``stop`` goes unnoticed.
POLL_MS: Final = 500
#: A rejoin needs a poll of at least this long.
KEEP_ALIVE_MS: Final = 100
#: Failures in a row after which missing rights are an error: waiting does not grant them.
FORBIDDEN_ATTEMPTS: Final = 5


@dataclass(slots=True)
class _Work:
    """What one transaction holds, and what is counted once it is committed."""

    stats: GuardStats = field(default_factory=GuardStats)
    #: Next offset and leader epoch of each partition.
    offsets: dict[TopicPartition, tuple[int, int]] = field(default_factory=dict)
    records: int = 0
    bytes: int = 0
    #: The record in hand: whose letter it was, if the transaction fails with it alone.
    last: Fetched | None = None


class ExactlyOnce:
    """Moves a topic's records to a sink or to the dead letters, each exactly once. Used on one thread."""

    def __init__(
        self,
        consumer: Any,
        contract: Contract[Any],
        transactions: Transactions,
        *,
        sink: str,
        dead_letter_topic: str,
        encoding: EncodingChoice = "protobuf",
        sink_encoding: SinkEncoding | None = None,
        too_large: TooLarge = "block",
        backoff: tuple[float, float] = (0.1, 10.0),
        give_up_after: float | None = None,
        grace: float = 10.0,
        stop_at_end: bool = False,
        sole: bool = False,
        max_records: int = MAX_RECORDS,
    ) -> None:
        """Check the set-up; nothing is sent or read before ``start``.

        consumer: a subscribed ``KafkaConsumer`` with a group, without deserializers, with ``enable_auto_commit=False``,
            ``isolation_level="read_committed"`` and ``auto_offset_reset`` "earliest" or "none".
        transactions: those of a transactional id that no process but this one uses at a time.
        sole: the transactional id outlives the process. Being fenced is an error then: another process uses the id.
        The others are as in ``Guard``; times are in seconds.

        Raises GuardError naming what to change.
        """
        self._consumer = cast(Consumer, consumer)
        config = self._consumer.config
        self._check_consumer(config)
        self._judge = Judge(contract, encoding)
        self._contract = contract
        self._transactions = transactions
        self._sink = sink
        self._dead = dead_letter_topic
        self._sink_encoding: SinkEncoding | None = sink_encoding
        self._too_large: TooLarge = too_large
        self._backoff = backoff
        self._give_up_after = give_up_after
        self._grace = grace
        self._stop_at_end = stop_at_end
        self._sole = sole
        self._max_records = max_records
        #: What was committed: records of a transaction that was aborted are not counted.
        self.stats = GuardStats()
        #: Called now and then.
        self.tick: Any = None
        self._provenance = Provenance(str(config["group_id"]), str(config.get("client_id") or ""))
        self._group = group_header(str(config["group_id"]))
        self._buffers: dict[TopicPartition, deque[Fetched]] = {}
        self._positions: dict[TopicPartition, int] = {}
        self._committed: dict[TopicPartition, int] = {}
        #: The member as the poll left it that filled the buffers.
        self._member: Membership | None = None
        self._disturbed = False
        self._restart = True
        self._ends: dict[TopicPartition, int] = {}
        self._others_checked = 0.0
        self._limit = max_records
        #: How often a dead letter was cut because its topic refused it, by position.
        self._cuts: Counter[tuple[TopicPartition, int]] = Counter()
        self._blocked: str | None = None
        self._failing_since: float | None = None
        self._failures = 0
        self._pause = backoff[0]
        self._retry_at = 0.0
        interval = config.get("max_poll_interval_ms") or 300_000
        self._keep_alive_after = min(interval / 3000, 10.0)
        self._last_poll = 0.0
        self._started = False
        self._stopping = False
        self._closed = False

    @staticmethod
    def _check_consumer(config: dict[str, Any]) -> None:
        check_config(config)
        if config.get("isolation_level") != "read_committed":
            raise GuardError(
                'isolation_level: set it to "read_committed"; only then kafka-python waits for offsets that another '
                "member's transaction may still commit"
            )

    # -- state

    @property
    def blocked(self) -> str | None:
        """Why nothing is committed at present, or None."""
        return self._blocked

    @property
    def unacknowledged(self) -> int:
        """Always 0: what is not committed is not there."""
        return 0

    @property
    def lag(self) -> int | None:
        """Records of this member's partitions that are not committed; None before the first fetch."""
        total: int | None = None
        for tp, committed in list(self._committed.items()):
            try:
                high = self._consumer.highwater(tp)
            except client.errors.KafkaError:
                continue
            if high is not None:
                total = (total or 0) + max(0, high - committed)
        return total

    @property
    def stopping(self) -> bool:
        """Whether ``stop`` was called, or the end began."""
        return self._stopping

    def stop(self) -> None:
        """End after the transaction in hand. May be called from a signal handler or another thread."""
        self._stopping = True

    # -- start and end

    def start(self) -> None:
        """Get the transactional id, check the topics, take over the subscription. Raises GuardError."""
        if self._started:
            return
        try:
            self._transactions.prepare()
        except TransactionFailed as failure:
            kind = type(failure.error).__name__
            what = (
                "grant WRITE on the transactional id and on the topics"
                if client.is_forbidden(failure.error)
                else "the transaction coordinator does not answer"
            )
            raise GuardError(f"no transaction can be prepared ({kind}): {what}") from None
        for name, topic in (("sink", self._sink), ("dead_letter_topic", self._dead)):
            try:
                found = self._transactions.partitions_for(topic)
            except client.errors.KafkaError as error:
                raise GuardError(
                    f"{name}: topic {topic} cannot be used ({type(error).__name__}); create it, or grant access"
                ) from None
            if not found:
                raise GuardError(f"{name}: topic {topic} does not exist; create it")
        if self._stop_at_end:
            self._find_ends()
        self._consumer.subscribe(sorted(self._consumer.subscription() or ()), listener=_listener(self))
        self._started = True

    def run(self) -> None:
        """Work until stopped (or until the end, if it stops there). Raises GuardError."""
        self.start()
        while not self._stopping:
            if self.tick is not None:
                self.tick()
            if not self._transactions.ready and not self._prepared():
                self._poll(hold=True)
                continue
            now = time.monotonic()
            if now < self._retry_at:
                self._poll(hold=True)
                continue
            if not any(self._buffers.values()):
                if self._stop_at_end and self._at_end():
                    return
                self._poll()
            elif now - self._last_poll >= self._keep_alive_after:
                self._poll(hold=True)
            if any(self._buffers.values()) or self._behind():
                self._transact()

    def close(self) -> None:
        """Abort what is open, leave the group."""
        if self._closed:
            return
        self._closed = True
        self._stopping = True
        try:
            self._transactions.close(self._grace)
        finally:
            self._consumer.close(autocommit=False, timeout_ms=max(1, int(self._grace * 1000)))

    # -- reading

    def _poll(self, *, hold: bool = False) -> None:
        """Fetch, or (with ``hold``) only stay a member. Leaves ``_member``, the buffers and the positions in step."""
        consumer = self._consumer
        hold = hold or self._restart
        if hold:
            running = consumer.assignment() - consumer.paused()
            if running:
                consumer.pause(*running)
        elif paused := consumer.paused():
            consumer.resume(*paused)
        wait = KEEP_ALIVE_MS if hold else POLL_MS
        try:
            fetched = consumer.poll(timeout_ms=wait, max_records=client.UNBOUNDED)
        except Exception as error:
            # Whatever it is, it came out of the client's internals; see _poll_failed for what may go on.
            self._poll_failed(error)
            return
        finally:
            self._last_poll = time.monotonic()
        member = consumer.group_metadata()
        if self._disturbed or (hold and self._member is not None and not _same(member, self._member)):
            self._forget()
        self._disturbed = False
        if self._restart:
            # What this poll brought is read again: it may lie above records that nobody has committed.
            self._member = None
            if member.generation_id >= 0 and consumer.assignment():
                self._begin_at_committed()
            return
        if hold and not fetched:
            return
        self._member = member
        for tp, records in fetched.items():
            self._buffers.setdefault(tp, deque()).extend(records)
        for tp in consumer.assignment():
            position = self._position(tp)
            if position is not None:
                self._positions[tp] = position

    def _poll_failed(self, error: Exception) -> None:
        self.stats.poll_errors += 1
        self._forget()
        kind = type(error).__name__
        if client.is_retriable(error):
            log.warning("poll failed (%s); trying again", kind)
            time.sleep(0.1)
            return
        what = "the source cannot be read further"
        if client.is_gap(error):
            what = "records are missing from the source"
        elif client.is_forbidden(error):
            what = "rights are missing on the source or its group"
        # The client's text may quote a record; its class does not.
        raise SourceError(f"{what} ({kind}); nothing is committed that was not written") from (
            error if client.is_client_error(error) else None
        )

    def _begin_at_committed(self) -> None:
        """Set every partition to what the group has committed. What another member's transaction has not decided yet
        is waited for: that is what ``read_committed`` asks the broker for."""
        consumer = self._consumer
        for tp in sorted(consumer.assignment()):
            try:
                committed = consumer.committed(tp, timeout_ms=5_000)
                if committed is not None:
                    consumer.seek(tp, committed)
                elif consumer.config.get("auto_offset_reset") == "none":
                    raise SourceError(f"{tp.topic}:{tp.partition} has no committed offset; begin with --from earliest")
                else:
                    consumer.seek_to_beginning(tp)
            except client.errors.KafkaError as error:
                if client.is_forbidden(error):
                    self._poll_failed(error)
                log.info("no committed offset for %s:%d yet (%s)", tp.topic, tp.partition, type(error).__name__)
                return
            self._committed[tp] = committed or 0
        self._restart = False

    def _forget(self) -> None:
        """Drop what was read: the next poll begins at the committed offsets."""
        self._restart = True
        self._member = None
        self._buffers.clear()
        self._positions.clear()
        self._committed.clear()

    def _position(self, tp: TopicPartition) -> int | None:
        try:
            return self._consumer.position(tp, timeout_ms=100)
        except (client.errors.KafkaError, KeyError):
            # Not ours any more, or no position yet: it is looked up again after the next poll.
            return None

    def _behind(self) -> bool:
        """Whether a position is above what is committed without a record between: transaction markers, gaps."""
        return any(position > self._committed.get(tp, position) for tp, position in self._positions.items())

    # -- rebalances, called by the client while it polls or closes

    def changed_hands(self, *, lost: bool) -> None:
        """Partitions were revoked, lost or assigned: what is read or open now is not to be committed."""
        self._disturbed = True
        if lost:
            self.stats.losses += 1

    def _check(self, member: Membership) -> None:
        if self._disturbed or not _same(self._consumer.group_metadata(), member):
            raise Disturbed

    # -- one transaction

    def _transact(self) -> None:
        member = self._member
        if member is None or member.generation_id < 0:
            # The broker would take its offsets unfenced: whoever has the partitions now writes the records again.
            log.warning("this member is not in its group; what it read is dropped")
            self.stats.losses += 1
            self._forget()
            return
        work = _Work()
        try:
            self._transactions.begin()
            self._fill(work)
            self._transactions.commit(work.offsets, member, lambda: self._check(member))
        except Disturbed:
            log.warning("the partitions changed hands; %d records are read again by whoever has them", work.records)
            self._forget()
        except TransactionFailed as failure:
            self._forget()
            self._failed(failure, work)
        except BaseException:
            self._transactions.abort()
            self._forget()
            raise
        else:
            self._succeeded(work)

    def _fill(self, work: _Work) -> None:
        until = time.monotonic() + MAX_SECONDS
        for tp, buffer in self._buffers.items():
            judge, counts = self._judge.for_topic(tp.topic), work.stats.of(tp)
            epoch = -1
            while buffer:
                if (
                    work.records >= self._limit
                    or work.bytes >= MAX_BYTES
                    or self._disturbed
                    or time.monotonic() >= until
                ):
                    return
                raw = work.last = buffer.popleft()
                work.records += 1
                counts.consumed += 1
                epoch = -1 if raw.leader_epoch is None else raw.leader_epoch
                letter = self._decide(raw, judge, work.stats, counts, tp)
                if letter is not None:
                    work.bytes += letter.size
                    self._transactions.send(letter)
                work.offsets[tp] = (raw.offset + 1, epoch)
            position = self._positions.get(tp)
            if position is not None and tp in work.offsets:
                work.offsets[tp] = (max(position, work.offsets[tp][0]), epoch)
        for tp, position in self._positions.items():
            if tp not in work.offsets and not self._buffers.get(tp) and position > self._committed.get(tp, position):
                work.offsets[tp] = (position, -1)

    def _decide(
        self, raw: Fetched, judge: TopicJudge, stats: GuardStats, counts: PartitionStats, tp: TopicPartition
    ) -> Letter | None:
        """Where a record goes; None where it is another group's."""
        contract = self._contract
        if raw.headers and for_another_group(raw.headers, self._group):
            counts.skipped += 1
            return None
        if raw.value is None:
            if raw.key is None:
                return self._dead_letter(
                    raw,
                    stats,
                    counts,
                    tp,
                    (own_violation(contract, "wire.null", "neither key nor value; expected a message"),),
                )
            counts.tombstones += 1
            return sink_letter(self._sink, self._judge, raw, contract, None, changed=False)
        outcome, own = judge(raw)
        counts.judged += 1
        message = outcome.message
        if message is None or own is not None:
            stats.unknown_fields += outcome.unknown_fields
            return self._dead_letter(
                raw, stats, counts, tp, outcome.violations if own is None else (*outcome.violations, own)
            )
        counts.valid += 1
        counts.delivered += 1
        stats.unknown_fields += judge.has_unknown_fields(message)
        stats.normalized += bool(outcome.changes)
        if outcome.violations:
            stats.warnings.update({rule_label(violation) for violation in outcome.violations})
        return sink_letter(
            self._sink, self._judge, raw, contract, message, changed=bool(outcome.changes), encoding=self._sink_encoding
        )

    def _dead_letter(
        self,
        raw: Fetched,
        stats: GuardStats,
        counts: PartitionStats,
        tp: TopicPartition,
        violations: Sequence[Violation],
    ) -> Letter:
        stats.by_rule.update({rule_label(violation) for violation in violations})
        stats.violations.update(
            {(self._contract.full_name, rule_label(violation), error_class(violation)) for violation in violations}
        )
        counts.dead_lettered += 1
        letter = dead_letter(raw, self._dead, self._contract, violations, self._provenance, now=time.time())
        for size in TRUNCATED_SIZES[: self._cuts[tp, raw.offset]]:
            letter = truncated(letter, size)
        return letter

    def _succeeded(self, work: _Work) -> None:
        work.stats.truncated = sum(
            1 for (tp, offset), cuts in self._cuts.items() if cuts and offset < work.offsets.get(tp, (0, 0))[0]
        )
        _add(self.stats, work.stats)
        for tp, (offset, _) in work.offsets.items():
            self._committed[tp] = offset
        if self._cuts:
            self._cuts = Counter(
                {place: cuts for place, cuts in self._cuts.items() if place[1] >= self._committed.get(place[0], 0)}
            )
        if self._blocked is not None:
            log.warning("transactions are committed again")
        self._blocked = None
        self._failing_since = None
        self._failures = 0
        self._pause = self._backoff[0]
        self._limit = min(self._limit * 2, self._max_records)

    # -- trouble

    def _prepared(self) -> bool:
        """A new producer, once the pause is over: it ends what the last one left open."""
        if time.monotonic() < self._retry_at:
            return False
        if self._sole:
            # Whoever has taken over the name must not be fenced: the group tells, as an error of the poll.
            self._poll(hold=True)
            if self._consumer.group_metadata().generation_id < 0:
                return False
        try:
            self._transactions.prepare()
        except TransactionFailed as failure:
            self._trouble(f"no transaction can be prepared ({type(failure.error).__name__})", failure.error, SinkError)
            return False
        # Offsets that were looked up before may be those of before a transaction that was still on its way.
        self._forget()
        return True

    def _failed(self, failure: TransactionFailed, work: _Work) -> None:
        error, topic, kind = failure.error, failure.topic, type(failure.error).__name__
        self.stats.send_errors += 1
        if self._sole and client.is_fenced(error):
            raise GuardError(
                f"the transaction was fenced ({kind}): another process uses this --instance, or one transaction took "
                "longer than its timeout; nothing is lost"
            )
        last = work.last
        if client.is_too_large(error) and last is not None:
            if work.records > 1:
                # It may be any record of them: they go one by one until the one is found.
                self._limit = 1
                return
            place = TopicPartition(last.topic, last.partition), last.offset
            if topic == self._dead and self._too_large == "truncate" and self._cuts[place] < len(TRUNCATED_SIZES):
                self._cuts[place] += 1
                return
            self._limit = 1
            what = "dead letters" if topic == self._dead else "the sink"
            reason = (
                f"{what}: the record {last.topic}:{last.partition}:{last.offset} is larger than topic {topic} "
                f"takes ({kind})"
            )
        elif topic is not None:
            what = "dead letters" if topic == self._dead else "the sink"
            reason = f"{what}: topic {topic} cannot be written ({kind})"
        else:
            reason = f"the transaction cannot be committed ({kind})"
        self._trouble(reason, error, DeadLetterError if topic == self._dead else SinkError)

    def _trouble(self, reason: str, error: BaseException, kind: type[GuardError]) -> None:
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        if self._blocked is None:
            log.warning("%s; trying again until it works, nothing is skipped", reason)
        self._blocked = reason
        self._failures += 1
        if client.is_forbidden(error) and self._failures >= FORBIDDEN_ATTEMPTS:
            raise kind(f"{reason}; grant the right to write, then start again: nothing is lost")
        if self._give_up_after is not None and now - self._failing_since >= self._give_up_after:
            raise kind(f"{reason}; gave up after {self._give_up_after:g} s: nothing is lost")
        self._retry_at = now + self._pause
        self._pause = min(self._pause * 2, self._backoff[1])

    # -- the end that was

    def _find_ends(self) -> None:
        consumer = self._consumer
        tps = [
            TopicPartition(topic, number)
            for topic in consumer.subscription() or ()
            for number in consumer.partitions_for_topic(topic)
        ]
        starts = consumer.beginning_offsets(tps)
        self._ends = {tp: end for tp, end in consumer.end_offsets(tps).items() if end > starts.get(tp, 0)}

    def _at_end(self) -> bool:
        """Whether everything below the ends noted at the start is committed, by this member or by others."""
        others = [(tp, end) for tp, end in self._ends.items() if self._committed.get(tp, 0) < end]
        now = time.monotonic()
        if not others:
            return True
        assigned = self._consumer.assignment()
        if any(tp in assigned for tp, _ in others) or now - self._others_checked < 1.0:
            return False
        self._others_checked = now
        try:
            return all((self._consumer.committed(tp, timeout_ms=5_000) or 0) >= end for tp, end in others)
        except client.errors.KafkaError:
            return False


def _same(one: Membership, other: Membership) -> bool:
    return one.generation_id == other.generation_id and one.member_id == other.member_id


def _add(total: GuardStats | PartitionStats, more: Any) -> None:
    """Add the counts of one transaction to those of the process."""
    for each in fields(total):
        mine, other = getattr(total, each.name), getattr(more, each.name)
        if isinstance(mine, Counter):
            mine.update(other)
        elif isinstance(mine, int):
            setattr(total, each.name, mine + other)
        elif isinstance(total, GuardStats) and each.name == "partitions":
            for tp, counts in other.items():
                _add(total.of(tp), counts)


def _listener(work: ExactlyOnce) -> Any:
    class Listener(client.RebalanceListener):  # type: ignore[misc]  # an untyped base class
        """Tells of every change of hands. It makes no blocking call: the client waits for it."""

        def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
            work.changed_hands(lost=False)

        def on_partitions_lost(self, lost: Collection[TopicPartition]) -> None:
            work.changed_hands(lost=True)

        def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
            work.changed_hands(lost=False)

    return Listener()
