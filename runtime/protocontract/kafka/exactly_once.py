"""Exactly once, Kafka to Kafka: what ``protocontract guard --exactly-once`` does.

Good records, dead letters and the offsets of what was read are one transaction: a reader of committed records sees all
of it or nothing, whatever process dies. Source, sink and dead letters are topics of one cluster.

A transaction ends before the next poll, and it is committed for the member that the poll left which gave its records:
``group_metadata()`` is taken directly after that poll. The live value would do harm. After this member has left the
group it is (-1, ""), which a broker accepts without asking whose the partitions are. What a transaction could not
commit is read again from the group's committed offsets, after the next producer's first request has ended it.

A halt stops the transaction before the record that caused it. Its reason is metadata of the offsets in that very
transaction, so a committed transaction never holds anything beyond a halt. One that is aborted leaves the halt in
memory: the next transaction writes it, beside the offset that is committed then.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from protocontract.kafka import client, tracing
from protocontract.kafka.client import Consumer, Fetched, TopicPartition
from protocontract.kafka.client_checks import check_config
from protocontract.kafka.clients import only_kafka_python
from protocontract.kafka.committed_source import CommittedSource
from protocontract.kafka.controls import Halts
from protocontract.kafka.errors import DeadLetterError, GuardError, Later, SinkError
from protocontract.kafka.forward import SinkEncoding, sink_letter
from protocontract.kafka.halting import Breach, Breaker, Counted, Halting
from protocontract.kafka.judge import EncodingChoice, Judge, TopicJudge
from protocontract.kafka.letters.dead_letter import (
    Letter,
    Provenance,
    dead_letter,
    for_another_group,
    group_header,
    own_violation,
    truncated,
)
from protocontract.kafka.letters.form import DeadLetterForm
from protocontract.kafka.outbox import TRUNCATED_SIZES, TooLarge
from protocontract.kafka.patience import Failures
from protocontract.kafka.registry.frames import SinkFrame
from protocontract.kafka.shadow import Shadow, Tally
from protocontract.kafka.skipping import Skip, Skipping
from protocontract.kafka.stats import GuardStats, PartitionStats
from protocontract.kafka.transaction import Disturbed, TransactionFailed, Transactions
from protocontract.violations import rule_label

if TYPE_CHECKING:
    from protocontract.contract import Contract, Outcome
    from protocontract.violations import Violation

log: Final = logging.getLogger("protocontract.kafka")

#: Bounds of one transaction: records, bytes sent, and seconds in which it is filled. The coordinator aborts it after
#: ten seconds; and readers of committed records wait for its end.
MAX_RECORDS: Final = 10_000
MAX_BYTES: Final = 16 * 1024 * 1024
MAX_SECONDS: Final = 1.0
#: A transaction of so many records that fails did not fail because there were too many.
_FEW_RECORDS: Final = 100
#: A transaction that took less seconds, from its first record to its end, may be followed by a larger one. Well below
#: what a transaction may take (``FLUSH_TIMEOUT``), so that it is not doubled into failing.
_EASY_SECONDS: Final = 2.5
#: After so long without an answer about its name, a process goes on as if it had it.
_UNSURE_SECONDS: Final = 15.0
#: A broker that is given a group's name only cannot tell a member that has lost its partitions, and takes its offsets.
#: confluent-kafka could say more; but the transactions here are kafka-python's.
_WHY_KAFKA_PYTHON: Final = (
    "offsets are committed for a member and its generation (aiokafka takes only a group id), with kafka-python's "
    "transactions"
)


@dataclass(slots=True)
class _Work:
    """What one transaction holds, and what is counted once it is committed."""

    stats: GuardStats = field(default_factory=GuardStats)
    #: Next offset, leader epoch and metadata of each partition.
    marks: dict[TopicPartition, tuple[int, int, str]] = field(default_factory=dict)
    #: What the shadow found.
    tally: Tally = field(default_factory=Tally)
    records: int = 0
    bytes: int = 0
    #: The record in hand: whose letter it was, if the transaction fails with it alone.
    last: Fetched | None = None


class ExactlyOnce(Halts):
    """Moves a topic's records to a sink or to the dead letters, each exactly once. Used on one thread."""

    #: Called now and then.
    tick: Callable[[], object] | None = None
    # Where the loop is.
    _waiting = 0
    _started = False
    _stopping = False
    _closed = False

    def __init__(
        self,
        consumer: Any,
        contract: Contract[Any],
        transactions: Transactions,
        *,
        sink: str,
        dead_letter_topic: str,
        dead_letter_form: DeadLetterForm | None = None,
        encoding: EncodingChoice = "protobuf",
        sink_encoding: SinkEncoding | None = None,
        sink_frame: SinkFrame | None = None,
        too_large: TooLarge = "block",
        backoff: tuple[float, float] = (0.1, 10.0),
        give_up_after: float | None = None,
        grace: float = 10.0,
        stop_at_end: bool = False,
        sole: bool = False,
        max_records: int = MAX_RECORDS,
        breaker: Breaker | Mapping[str, Any] | None = None,
        on_breach: Callable[[Breach], object] | None = None,
        shadow: Shadow | Contract[Any] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Check the set-up; nothing is sent or read before ``start``.

        consumer: a subscribed ``KafkaConsumer`` with a group, without deserializers, with ``enable_auto_commit=False``,
            ``isolation_level="read_committed"`` and ``auto_offset_reset`` "earliest" or "none".
        transactions: those of a transactional id that no process but this one uses at a time.
        sole: the transactional id outlives the process. Being fenced is an error then: another process uses the id.
        The others are as in ``Guard``; times are in seconds.

        Raises GuardError naming what to change.
        """
        only_kafka_python(consumer, _WHY_KAFKA_PYTHON)
        self._consumer = cast(Consumer, consumer)
        config = self._consumer.config
        self._check_consumer(config)
        self._judge = Judge(contract, encoding)
        #: What a candidate contract would do otherwise, where one was given: of committed records only.
        self.shadow: Final = Shadow.of(shadow, self._judge, encoding)
        self._contract = contract
        self._transactions = transactions
        self._sink = sink
        self._dead = dead_letter_topic
        self._sink_encoding: SinkEncoding | None = sink_encoding
        self._sink_frame = sink_frame
        self._too_large: TooLarge = too_large
        self._give_up_after = give_up_after
        self._grace = grace
        self._stop_at_end = stop_at_end
        self._sole = sole
        self._unsure_since: float | None = None
        self._max_records = max_records
        #: What was committed: records of a transaction that was aborted are not counted.
        self.stats = GuardStats()
        self._provenance = Provenance.of(config, dead_letter_form)
        self._group = group_header(str(config["group_id"]))
        self._source = CommittedSource(self._consumer, self.stats)
        self._skipping = Skipping()
        self._halting = Halting(
            self._judge.contracts, self._judge.contract_of, clock, breaker=breaker, on_breach=on_breach
        )
        self._limit = max_records
        #: How often a dead letter was cut because its topic refused it, by position.
        self._cuts: Counter[tuple[TopicPartition, int]] = Counter()
        self._failures = Failures(backoff, give_up_after)

    @staticmethod
    def _check_consumer(config: Mapping[str, Any]) -> None:
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
        registry = self._judge.registry
        return self._failures.reason or self._source.undecided or (None if registry is None else registry.blocked)

    @property
    def unacknowledged(self) -> int:
        """Records that wait because their transaction could not be committed; 0 while nothing blocks. Nothing of them
        is there for readers of committed records."""
        return self._waiting if self._failures.reason else 0

    @property
    def assignment(self) -> set[TopicPartition]:
        """The partitions of this member."""
        return set(self._source.partitions)

    @property
    def lag(self) -> int | None:
        """Records of this member's partitions that are not committed; None before the first fetch."""
        return self._source.lag()

    @property
    def open_transaction_age(self) -> float:
        """Seconds since the open transaction began; 0 where none is open. Readers of committed records wait for it."""
        return self._transactions.age

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
        self._source.start(to_end=self._stop_at_end)
        self._halting.start(self._source)
        tracing.begin(self)
        self._started = True

    def run(self) -> None:
        """Work until stopped (or until the end, if it stops there). Raises GuardError."""
        self.start()
        source = self._source
        while not self._stopping:
            if self.tick is not None:
                self.tick()
            self._halting.look()
            if not self._transactions.ready and not self._prepared():
                source.poll(hold=True)
                continue
            if self._failures.pausing or self._registry_waiting():
                source.poll(hold=True)
                continue
            if not any(source.ready()):
                if self._stop_at_end and not source.unsaved and source.at_end():
                    # Everything is committed: what this process could not commit, another member did.
                    self._works_again()
                    return
                source.poll()
            elif source.keep_alive_due:
                source.poll(hold=True)
            if self._skipping.asked and source.member is not None:
                self._skipping.meet(self._skip)
            if any(source.ready()) or source.behind:
                self._transact()
            elif self._failures.reason is not None and source.member is not None:
                # What could not be committed was committed all the same, or is another member's now.
                self._works_again()
        self._save_halts()

    def _registry_waiting(self) -> bool:
        registry = self._judge.registry
        if registry is None or not registry.waiting:
            return False
        registry.give_up(self._give_up_after)
        return True

    def _skip(self, skip: Skip) -> str | None:
        refused = self._source.skip(skip, self.blocked)
        if refused is not None or skip.dry_run:
            return refused
        if not self._transact(take=False):
            return "its transaction failed; ask again"
        counts = self.stats.of(TopicPartition(skip.record.topic, skip.record.partition))
        counts.consumed += 1
        counts.skipped += 1
        return None

    def _save_halts(self) -> None:
        """Write halts that no transaction has written yet: the next owner would have to find out by itself."""
        source = self._source
        until = time.monotonic() + self._grace / 2
        while source.unsaved and time.monotonic() < until:
            if not self._transactions.ready and not self._prepared():
                source.poll(hold=True)
                continue
            source.poll()
            if source.behind:
                self._transact(take=False)

    def close(self) -> None:
        """Abort what is open, leave the group."""
        if self._closed:
            return
        self._closed = True
        self._stopping = True
        try:
            self._transactions.close(self._grace)
        finally:
            self._source.close(self._grace)

    # -- one transaction

    def _transact(self, *, take: bool = True) -> bool:
        """One transaction, with records unless ``take`` is False. Returns whether it is committed."""
        source = self._source
        member = source.member
        if member is None or member.generation_id < 0:
            # The broker would take its offsets unfenced: whoever has the partitions now writes the records again.
            log.warning("this member is not in its group; what it read is dropped")
            self.stats.losses += 1
            source.forget()
            return False

        def check() -> None:
            if not source.still(member):
                raise Disturbed

        work = _Work()
        counted = self._halting.remember()
        started = time.monotonic()
        done = False
        try:
            self._transactions.begin()
            if take:
                self._fill(work)
            work.marks = source.marks()
            self._transactions.commit(work.marks, member, check)
        except Disturbed:
            log.warning("the partitions changed hands; %d records are read again by whoever has them", work.records)
            self._aborted(counted)
        except TransactionFailed as failure:
            self._aborted(counted)
            self._failed(failure, work)
        except BaseException:
            self._transactions.abort()
            source.forget()
            raise
        else:
            done = True
            self._succeeded(work, time.monotonic() - started)
        self.stats.longest_transaction = self._transactions.longest
        return done

    def _fill(self, work: _Work) -> None:
        """Take records until a bound of the transaction, the end of the buffers, or a halt."""
        until = time.monotonic() + MAX_SECONDS
        for share in self._source.ready():
            judge, counts = self._judge.for_topic(share.tp.topic), work.stats.of(share.tp)
            observe = self._halting.observer(share)
            while share.buffer:
                if (
                    work.records >= self._limit
                    or work.bytes >= MAX_BYTES
                    or self._source.disturbed
                    or time.monotonic() >= until
                ):
                    return
                raw = share.buffer[0]
                try:
                    outcome, own = (None, None) if self._passes_unjudged(raw) else judge(raw)
                except Later:
                    # The schema registry does not say yet what the record is. What was taken is committed.
                    return
                if outcome is not None and observe is not None and not observe(raw, outcome, own):
                    # The line stops before this record: it is taken by whoever ends the halt.
                    break
                if outcome is not None and self.shadow is not None:
                    self.shadow(raw, outcome, own, work.tally)
                work.last = share.take()
                work.records += 1
                counts.consumed += 1
                letter = self._letter_of(raw, outcome, own, judge, work.stats, counts)
                if letter is not None:
                    work.bytes += letter.size
                    self._transactions.send(letter)

    def _passes_unjudged(self, raw: Fetched) -> bool:
        return raw.value is None or bool(raw.headers and for_another_group(raw.headers, self._group))

    def _letter_of(
        self,
        raw: Fetched,
        outcome: Outcome[Any] | None,
        own: Violation | None,
        judge: TopicJudge,
        stats: GuardStats,
        counts: PartitionStats,
    ) -> Letter | None:
        """What is written for a record, given what its contract says; None where it is another group's."""
        contract = self._contract
        if outcome is None:
            if raw.headers and for_another_group(raw.headers, self._group):
                counts.skipped += 1
                return None
            if raw.key is None:
                nothing = own_violation(contract, "wire.null", "neither key nor value; expected a message")
                return self._dead_letter(raw, stats, counts, (nothing,))
            counts.tombstones += 1
            return sink_letter(self._sink, self._judge, raw, contract, None, changed=False)
        message = outcome.message
        if message is None or own is not None:
            counts.broken += 1
            stats.unknown_fields += outcome.unknown_fields
            return self._dead_letter(
                raw, stats, counts, outcome.violations if own is None else (*outcome.violations, own)
            )
        counts.valid += 1
        counts.delivered += 1
        stats.unknown_fields += judge.has_unknown_fields(message)
        stats.normalized += bool(outcome.changes)
        if outcome.violations:
            stats.warnings.update({rule_label(violation) for violation in outcome.violations})
        return sink_letter(
            self._sink,
            self._judge,
            raw,
            contract,
            message,
            changed=bool(outcome.changes),
            encoding=self._sink_encoding,
            frame=self._sink_frame,
        )

    def _dead_letter(
        self,
        raw: Fetched,
        stats: GuardStats,
        counts: PartitionStats,
        violations: Sequence[Violation],
    ) -> Letter:
        stats.count(self._contract.full_name, violations)
        counts.dead_lettered += 1
        letter = dead_letter(raw, self._dead, self._contract, violations, self._provenance, now=time.time())
        for size in TRUNCATED_SIZES[: self._cuts[TopicPartition(raw.topic, raw.partition), raw.offset]]:
            letter = truncated(letter, size)
        return letter

    def _aborted(self, counted: Counted) -> None:
        """The records come again: they count when they are committed."""
        self.stats.transactions_aborted += 1
        self._source.forget()
        self._halting.recall(counted)

    def _succeeded(self, work: _Work, took: float) -> None:
        work.stats.truncated = sum(
            1 for (tp, offset), cuts in self._cuts.items() if cuts and offset < work.marks.get(tp, (0, 0, ""))[0]
        )
        work.stats.transactions = 1
        self.stats.add(work.stats)
        self._halting.settle()
        if self.shadow is not None:
            self.shadow.tally.add(work.tally)
        self._source.committed(work.marks)
        if self._cuts:
            self._cuts = Counter(
                {place: cuts for place, cuts in self._cuts.items() if place[1] >= work.marks.get(place[0], (0,))[0]}
            )
        self._works_again()
        if took < _EASY_SECONDS:
            self._limit = min(self._limit * 2, self._max_records)

    # -- trouble

    def _works_again(self) -> None:
        if self._failures.reason is not None:
            log.warning("transactions are committed again")
        self._failures.over()

    def _prepared(self) -> bool:
        """A new producer, once the pause is over: it ends what the last one left open."""
        if self._failures.pausing:
            return False
        if self._sole and not self._still_member():
            return False
        try:
            self._transactions.prepare()
        except TransactionFailed as failure:
            error = failure.error
            reason = f"no transaction can be prepared ({type(error).__name__})"
            self._failures.add(reason, SinkError, forbidden=client.is_forbidden(error))
            return False
        # Offsets that were looked up before may be those of before a transaction that was still on its way.
        self._source.forget()
        return True

    def _still_member(self) -> bool:
        """Whether the group knows this process by its name. Raises GuardError where another has taken the name over: a
        new producer of this one would fence the other's.
        """
        self._source.poll(hold=True)
        if self._consumer.group_metadata().generation_id < 0:
            return False
        try:
            client.ask_membership(self._consumer)
        except client.errors.KafkaError as error:
            if client.is_fenced(error):
                raise _fenced("this member", error) from None
            now = time.monotonic()
            self._unsure_since = now if self._unsure_since is None else self._unsure_since
            # A rebalance, or a coordinator that moves: the next poll takes part in it. Who gets no answer for long goes
            # on: nothing says that the name was taken over.
            if now - self._unsure_since < _UNSURE_SECONDS:
                return False
        self._unsure_since = None
        return True

    def _failed(self, failure: TransactionFailed, work: _Work) -> None:
        error, topic, kind = failure.error, failure.topic, type(failure.error).__name__
        self.stats.send_errors += 1
        if self._sole and client.is_fenced(error):
            raise _fenced("the transaction", error)
        self._waiting = work.records
        last = work.last
        what, trouble = ("dead letters", DeadLetterError) if topic == self._dead else ("the sink", SinkError)
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
            reason = (
                f"{what}: the record {last.topic}:{last.partition}:{last.offset} is larger than topic {topic} "
                f"takes ({kind})"
            )
        elif topic is not None:
            reason = f"{what}: topic {topic} cannot be written ({kind})"
        else:
            reason = f"the transaction cannot be committed ({kind})"
        if work.records > _FEW_RECORDS:
            # It may have been too much for a slow connection: all of it is written again, so less is tried.
            self._limit = max(_FEW_RECORDS, work.records // 4)
        self._failures.add(reason, trouble, forbidden=client.is_forbidden(error))


def _fenced(what: str, error: BaseException) -> GuardError:
    return GuardError(
        f"{what} was fenced ({type(error).__name__}): another process uses this --instance, or one transaction took "
        "longer than its timeout; nothing is lost"
    )
