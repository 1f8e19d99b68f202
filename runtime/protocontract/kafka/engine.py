"""What a guard does, whatever client is below and whoever waits above: take, judge, dead-letter, resolve, commit.

Every record that is read ends in one of these ways, and in no other: its handler is done, its dead letter is
acknowledged, it is a tombstone and passed over, or it stays uncommitted and is read again. At least once, in order.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar, get_args

from google.protobuf.message import Message

from protocontract.kafka import clients, tracing
from protocontract.kafka.client_checks import check_config, check_listener
from protocontract.kafka.controls import Controls
from protocontract.kafka.ends import Ends
from protocontract.kafka.errors import DeadLetterError, GuardError, Later, SinkError
from protocontract.kafka.halting import Breach, Breaker, Halting
from protocontract.kafka.judge import EncodingChoice, Judge
from protocontract.kafka.letters.dead_letter import (
    Provenance,
    dead_letter,
    for_another_group,
    group_header,
    own_violation,
)
from protocontract.kafka.letters.form import DeadLetterForm, topic_for
from protocontract.kafka.outbox import Outbox, Sending, TooLarge
from protocontract.kafka.partition import Partition
from protocontract.kafka.patience import give_up_if_due
from protocontract.kafka.ports import Client, Fetched, ProducerFactory, error_name
from protocontract.kafka.record import Record
from protocontract.kafka.shadow import Shadow
from protocontract.kafka.skipping import Skipping
from protocontract.kafka.source import Source
from protocontract.kafka.stats import GuardStats
from protocontract.violations import Violation, rule_label

if TYPE_CHECKING:
    from protocontract.contract import Contract, Outcome

M = TypeVar("M", bound=Message)

OnReject: TypeAlias = Literal["dead_letter", "block_key"]
Tombstones: TypeAlias = Literal["skip", "deliver", "reject"]

log: Final = logging.getLogger("protocontract.kafka")

#: How long one poll waits for records: the longest time that ``stop`` goes unnoticed.
POLL_MS: Final = 500
#: Seconds of the grace period that are kept for the last commit and for leaving the group.
_CLOSING: Final = 2.0
#: How long one try to write may block: our producers' ``max_block_ms``, in seconds.
_TRY: Final = 5.0


class Engine(Controls, Generic[M]):
    """The parts of a guard, put together. One thread."""

    #: Whether waiting for an answer must not hold the thread.
    _waits_by_sleeping: ClassVar[bool] = False

    #: The way to a sink and what to call now and then: for the guard process.
    _sink: Outbox | None = None
    _tick: Callable[[], object] | None = None
    # Where the loop is.
    _in_hand: Record[M] | None = None
    _ends: Ends | None = None
    _started = False
    _closed = False
    _stopping = False
    _stopped_at: float | None = None
    _deadline = 0.0
    _told_tombstone = False
    #: Seconds without a sign of life after which the group gives the partitions away.
    _session: float
    _due = 0.0
    _next_commit = 0.0
    _last_wait_poll = 0.0

    def _recognise(self, consumer: Any) -> Client:
        """The client of a consumer. Raises GuardError."""
        return clients.consumer(consumer)

    def __init__(
        self,
        consumer: Any,
        contract: Contract[M] | Mapping[str, Contract[Any]],
        *,
        dead_letters: Mapping[str, Any] | ProducerFactory | None = None,
        dead_letter_topic: str | None = None,
        dead_letter_form: DeadLetterForm | None = None,
        encoding: EncodingChoice = "protobuf",
        tombstones: Tombstones = "skip",
        listener: Any = None,
        on_reject: OnReject = "dead_letter",
        too_large: TooLarge = "block",
        backoff: tuple[float, float] = (0.1, 10.0),
        max_pending: int = 1_000,
        give_up_after: float | None = None,
        grace: float = 10.0,
        commit_every: float = 1.0,
        stop_at_end: bool = False,
        close_consumer: bool = True,
        breaker: Breaker | Mapping[str, Any] | None = None,
        on_breach: Callable[[Breach], object] | None = None,
        shadow: Shadow | Contract[Any] | Mapping[str, Contract[Any]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Check the set-up; nothing is sent or read before the guard is entered.

        consumer: a subscribed (or assigned) consumer with a group, without deserializers, with
            ``enable_auto_commit=False`` and ``auto_offset_reset`` "earliest" or "none": a ``KafkaConsumer``, a
            ``protocontract.kafka.client_confluent.Consumer``, or for ``AsyncGuard`` an ``AIOKafkaConsumer``.
        contract: the contract of all records, or one for each topic.
        dead_letters: configuration of the producer of dead letters, or a function that makes such producers: one that
            met a permanent error is replaced. Default: the consumer's own servers and security.
        dead_letter_topic: default the contract's. ``{group}`` in it stands for the consumer's group.
        dead_letter_form: what becomes of keys, and whether Kafka Connect's headers are written too.
        encoding: "protobuf", "confluent", "json"; "headers" decides by each record's ``__value_schema_id`` or
            ``content-type`` header and falls back to protobuf; or a function of the record; or a
            ``protocontract.kafka.registry.Registry``: records are framed, and it says what their frames mean.
        tombstones: what happens to records without a value: "skip" counts them, "deliver" gives records whose message
            is None, "reject" dead-letters them.
        listener: a rebalance listener of your own; it is called after the guard's.
        on_reject: "block_key": once a record is dead-lettered, later ones of its key in the partition wait until it was
            replayed to its source and went through, or skipped. Nothing above it is committed meanwhile.
        too_large: a dead letter that its topic refuses for its size is tried for ever ("block"), or cut, with size and
            SHA-256 of the whole in its headers ("truncate").
        backoff: first and longest pause between tries to write a dead letter, in seconds.
        max_pending: most dead letters on their way at once.
        give_up_after: seconds after which a dead-letter topic that cannot be written, or a source that does not answer,
            is an error. Default: never; missing rights are an error after a few tries in any case.
        grace: seconds that closing waits for acknowledgements and for the last commit, counted from ``stop``.
        commit_every: seconds between commits while a fetched batch is handled.
        stop_at_end: end when everything is resolved that was in the topics when the guard started.
        close_consumer: whether closing the guard closes the consumer, which leaves the group.
        breaker: halts a partition whose last records are mostly bad: ``{"ratio": 0.5, "records": 100}``, or a number of
            bad ones in a row, ``{"consecutive": 50}``, or both.
        on_breach: called when a level of the contract turns missed or a breaker opens, on the guard's thread.
        shadow: a candidate contract that is run beside, without any effect, and its report kept in ``self.shadow``; or
            a ``Shadow``, for part of the records.
        clock: wall clock by which levels are judged, in seconds since 1970.

        Raises GuardError naming what to change.
        """
        self._client = self._recognise(consumer)
        self._consumer = self._client.consumer
        check_config(self._consumer.config, self._client.spelled)
        self._judge = Judge(contract, encoding)
        #: What a candidate contract would do otherwise, where one was given.
        self.shadow: Final = Shadow.of(shadow, self._judge, encoding)
        _demand_choice("tombstones", tombstones, get_args(Tombstones))
        _demand_choice("too_large", too_large, get_args(TooLarge))
        _demand_choice("on_reject", on_reject, get_args(OnReject))
        self._tombstones = tombstones
        self._dead_letter_topic = dead_letter_topic
        self._check_topics()
        check_listener(self._client.listener, listener)
        self._give_up_after = give_up_after
        self._grace = grace
        self._commit_every = commit_every
        self._stop_at_end = stop_at_end
        self._close_consumer = close_consumer
        #: What the guard counted.
        self.stats = GuardStats()
        self._halting = Halting(
            self._judge.contracts, self._judge.contract_of, clock, breaker=breaker, on_breach=on_breach
        )
        self._source = Source(
            self._client,
            self.stats,
            listener=listener,
            parse_halt=self._halting.parse,
            give_up_after=give_up_after,
            block_keys=on_reject == "block_key",
        )
        self._skipping = Skipping()
        self._outbox = self._way_to(dead_letters, too_large=too_large, backoff=backoff, max_pending=max_pending)
        self._provenance = Provenance.of(self._consumer.config, dead_letter_form)

    # -- set-up

    def _check_topics(self) -> None:
        for contract in self._judge.contracts:
            self._dead_letter_topic_of(contract)
        topics = set(self._consumer.subscription() or ()) | {tp.topic for tp in self._consumer.assignment()}
        for topic in sorted(topics):
            contract = self._judge.contract_of(topic)
            dead = self._dead_letter_topic_of(contract)
            if dead in topics:
                raise GuardError(
                    f"dead_letter_topic: the consumer reads {dead} itself; its records would go round for ever"
                )

    def _dead_letter_topic_of(self, contract: Contract[Any]) -> str:
        topic = self._dead_letter_topic or contract.dead_letter_topic
        if not topic:
            raise GuardError(
                f"dead_letter_topic: {contract.full_name} declares none; expected Guard(dead_letter_topic=...), "
                f"--dead-letter, or `dead_letter_topic` in the contract's options"
            )
        return topic_for(topic, str(self._consumer.config["group_id"]))

    def _way_to(self, dead_letters: Mapping[str, Any] | ProducerFactory | None, **options: Any) -> Outbox:
        try:
            producers = self._client.producers(dead_letters)
        except ValueError as error:
            raise GuardError(f"dead_letters: {error}") from None
        return Outbox(
            producers,
            "dead letters",
            acknowledge_within=self._client.answer_within(dead_letters),
            sleep=self._client.sleep if self._waits_by_sleeping else None,
            **options,
        )

    def _start(self) -> None:
        """Check that the dead-letter topics are there and take over the consumer. Raises GuardError."""
        if self._started:
            return
        if self._closed:
            raise GuardError("the guard is closed; make a new one")
        for topic in sorted({self._dead_letter_topic_of(contract) for contract in self._judge.contracts}):
            error = self._outbox.check(topic)
            if error is not None:
                raise GuardError(
                    f"dead_letter_topic: {topic} cannot be used ({error_name(error)}); create it, or grant access"
                )
        missing = self._client.missing_codecs()
        if missing:
            # Whether the topic can hold them is the command's to find out: it takes rights to ask for.
            log.warning("batches compressed with %s would stop the guard: install the codecs", ", ".join(missing))
        self._source.start()
        if self._stop_at_end:
            self._ends = Ends(self._consumer, self._client.partition)
        self._halting.start(self._source)
        tracing.begin(self)
        self._session = (self._consumer.config.get("session_timeout_ms") or 45_000) / 1000
        now = time.monotonic()
        self._next_commit = now + self._commit_every
        self._due = min(self._next_commit, self._source.keep_alive_at)
        self._started = True

    def _close(self) -> None:
        """Wait for what is on its way, commit what is resolved, leave the group."""
        if self._closed:
            return
        self._closed = True
        self._stopping = True
        grace, now = self._grace, time.monotonic()
        begin = now if self._stopped_at is None else self._stopped_at
        # The handler of the record in hand may have used the time up.
        self._deadline = max(begin + grace, now + min(grace, _CLOSING))
        try:
            if self._started:
                # The last commit and leaving the group take time too, and one try may block for as long as its
                # producer waits for metadata.
                drained = self._deadline - min(_CLOSING, grace / 4)
                self._outbox.last_try = drained - min(_TRY, grace / 2)
                self._drain(drained)
        finally:
            self._outbox.close(self.grace_left)
            if self._close_consumer:
                self._source.close(self.grace_left)
            elif self._started:
                self._source.commit_now(self.grace_left)
        if self.unacknowledged:
            log.warning(
                "%d letters are not acknowledged; their records are uncommitted and will be read again",
                self.unacknowledged,
            )

    def _drain(self, deadline: float) -> None:
        """Wait until every letter is acknowledged or the time is over."""
        while self.unacknowledged and time.monotonic() < deadline:
            self._settle()
            if self._sink is not None and self._sink.blocked:
                # What the sink did not take is read again by the next process.
                return
            if self.unacknowledged:
                self._outbox_in_need.wait(0.05)

    # -- reading

    def _records(self) -> Iterator[Record[M]]:
        """Valid records in the order of each partition. A record is finished when the next one is asked for."""
        self._start()
        left = self._in_hand
        if left is not None and left._open:
            # The loop before this one was left with the record in hand: it comes again, if it is still ours.
            self._pause_handling(left, 0.0)
            if left.owned and self._source.still_member():
                yield left
                left.done()
        yield from self._deliverable(finish=True)
        self._in_hand = None

    def _pause_handling(self, record: Record[M], seconds: float) -> None:
        """Wait as a member of the group, on until a rebalance under way has decided about the record."""
        until = time.monotonic() + seconds
        while not self._stopping:
            left = until - time.monotonic()
            if left > 0:
                self._source.wait(min(left, 1.0))
            elif record._partition.alive and not record.owned:
                self._source.keep_alive()
            else:
                return

    def _deliverable(self, *, finish: bool = False) -> Iterator[Record[M]]:
        """Records for the user's code. Whoever takes one resolves it; with ``finish``, to ask for the next does."""
        source = self._source
        while not self._stopping:
            self._settle()
            self._halting.look()
            if self._skipping.asked:
                outboxes = [self._outbox] if self._sink is None else [self._outbox, self._sink]
                self._skipping.look(self._source, outboxes, self.blocked)
            if self._tick is not None:
                self._tick()
            if self._must_wait():
                self._wait()
                continue
            partition = source.ready()
            if partition is not None:
                yield from self._take_from(partition, finish)
                continue
            if self._ends is not None and self._ends.reached(source):
                return
            source.poll(20 if self.unacknowledged else POLL_MS)

    def _coming(self, partition: Partition) -> Iterator[Fetched]:
        """The records in a partition's buffer that are to be judged, each taken into the books. It ends where the guard
        has to look at something else first.
        """
        buffer, counts = partition.buffer, partition.stats
        take, clock = partition.ledger.take, time.monotonic
        source, quiet = self._source, self._outbox.quiet
        membership, member = self._client.membership, source.membership
        token = membership()
        if not source.still_member():
            return
        group = group_header(self._provenance.group)
        keys = partition.keys
        released: deque[Fetched] | tuple[()] = () if keys is None else keys.released
        while buffer or released:
            # Asked for every record: the client's own thread may have learned meanwhile that others have the partition.
            if membership() != token:
                source.still_member()
                return
            if clock() >= self._due:
                self._keep_house()
                if source.membership != member or self._must_wait() or not partition.ready:
                    return
            if self._stopping or partition.held or not quiet() or (keys is not None and keys.full):
                return
            if released:
                raw = released.popleft()
            else:
                raw = buffer.popleft()
                if not take(raw.offset):
                    continue
                counts.consumed += 1
            partition.epoch = -1 if raw.leader_epoch is None else raw.leader_epoch
            if raw.headers and for_another_group(raw.headers, group):
                partition.ledger.resolve(raw.offset)
                counts.skipped += 1
            elif keys is None or not keys.hold(raw):
                yield raw

    def _take_from(self, partition: Partition, finish: bool = False) -> Iterator[Record[M]]:
        """The good records in a partition's buffer. What is bad goes to the outbox on the way."""
        ledger, counts, stats, keys, sink = partition.ledger, partition.stats, self.stats, partition.keys, self._sink
        judge = self._judge.for_topic(partition.tp.topic)
        contract, unknown_fields, plain = judge.contract, judge.has_unknown_fields, judge.plain
        observe, compare = self._halting.observer(partition), self.shadow
        looking = False
        for raw in self._coming(partition):
            if raw.value is None:
                record = self._tombstone(partition, raw, contract)
                if record is not None:
                    self._in_hand = record
                    yield record
                    if finish and record._open:
                        record._open = False
                        self._finish(record)
                elif self._must_wait():
                    return
                continue
            if plain is not None and not raw.headers:
                outcome, own = plain(raw.value), None
            else:
                try:
                    outcome, own = judge(raw)
                except Later:
                    # The schema registry does not say yet what the record is.
                    partition.put_back(raw)
                    return
            if observe is not None and not observe(raw, outcome, own):
                # The line stops before this record: it is neither delivered nor dead-lettered, but taken again.
                partition.put_back(raw)
                self._halting.save()
                return
            if compare is not None:
                compare(raw, outcome, own)
            message, changes = outcome.message, outcome.changes
            if message is None or own is not None:
                self._broken(partition, raw, contract, outcome, own)
                if self._must_wait():
                    return
                continue
            counts.valid += 1
            # Half as dear as validating: so every 16th is looked at, and all that was fetched with one that has some.
            if (looking or counts.valid & 15 == 1) and unknown_fields(message):
                stats.unknown_fields += 1
                looking = True
            if changes:
                stats.normalized += 1
            if outcome.violations:
                stats.warnings.update({rule_label(violation) for violation in outcome.violations})
            self._in_hand = record = Record(self, partition, raw, contract, message, changes)
            yield record
            if finish and record._open:
                # As ``_finish``, without the call.
                record._open = False
                if partition.alive and ledger.resolve(raw.offset):
                    counts.delivered += 1
            if keys is not None:
                keys.delivered(raw)
            if sink is not None and (sink.full or sink.blocked is not None):
                return

    def _tombstone(self, partition: Partition, raw: Fetched, contract: Contract[Any]) -> Record[M] | None:
        if self._tombstones == "deliver":
            return Record(self, partition, raw, contract, None, ())
        if self._tombstones == "reject":
            violation = own_violation(contract, "wire.tombstone", "a record without a value; expected a message")
            self._dead_letter(partition, raw, contract, (violation,))
            return None
        if not self._told_tombstone:
            self._told_tombstone = True
            log.warning(
                'records without a value are skipped and counted (tombstones="skip"); first in %s:%d',
                raw.topic,
                raw.partition,
            )
        partition.ledger.resolve(raw.offset)
        partition.stats.tombstones += 1
        return None

    # -- ends of a record

    def _broken(
        self,
        partition: Partition,
        raw: Fetched,
        contract: Contract[Any],
        outcome: Outcome[Any],
        own: Violation | None,
    ) -> None:
        partition.stats.broken += 1
        self.stats.unknown_fields += outcome.unknown_fields
        self._dead_letter(partition, raw, contract, outcome.violations if own is None else (*outcome.violations, own))

    def _finish(self, record: Record[Any]) -> None:
        partition = record._partition
        if partition.alive and partition.ledger.resolve(record.raw.offset):
            if record.raw.value is None:
                partition.stats.tombstones += 1
            else:
                partition.stats.delivered += 1

    def _reject(self, record: Record[Any], rule_id: str, reason: str) -> None:
        violation = own_violation(record.contract, rule_id, "the handler did not accept the record")
        self.stats.rejected += 1
        self._dead_letter(record._partition, record.raw, record.contract, (violation,), reason=reason)

    def _dead_letter(
        self,
        partition: Partition,
        raw: Fetched,
        contract: Contract[Any],
        violations: tuple[Violation, ...],
        reason: str | None = None,
    ) -> None:
        if not partition.alive:
            # Its new owner reads it again and decides again.
            return
        self.stats.count(contract.full_name, violations)
        letter = dead_letter(
            raw,
            self._dead_letter_topic_of(contract),
            contract,
            violations,
            self._provenance,
            reason=reason,
            now=time.time(),
        )
        if partition.keys is not None:
            partition.keys.rejected(raw)
        self._outbox.send(Sending(letter, partition, raw.offset, "dead_lettered"))

    def _settle(self) -> None:
        """Note what is acknowledged; try again what is due."""
        if self._must_wait():
            # Nothing is tried again for a partition that somebody else may have by now.
            self._source.still_member()
        for sending in self._outbox.settle():
            self._acknowledged(sending)
        self.stats.send_errors = self._outbox.counts.errors
        self.stats.truncated = self._outbox.counts.truncated
        sink = self._sink
        if sink is None:
            return
        for sending in sink.settle():
            self._acknowledged(sending)
        self.stats.send_errors += sink.counts.errors
        if sink.must_begin_again():
            # To send the failed record alone would put it behind its successors. Read again from the first one
            # that is not through: some are written twice, all in order.
            self._source.rewind()

    def _acknowledged(self, sending: Sending) -> None:
        partition, keys = sending.partition, sending.partition.keys
        if partition.alive and keys is not None and keys.blocks(sending.offset):
            partition.stats.dead_lettered += keys.acknowledge(sending.offset)
        elif partition.alive and partition.ledger.resolve(sending.offset):
            counts = partition.stats
            setattr(counts, sending.outcome, getattr(counts, sending.outcome) + 1)

    # -- waiting

    @property
    def _outbox_in_need(self) -> Outbox:
        sink = self._sink
        if sink is not None and (sink.blocked or sink.full or not self._outbox.pending):
            return sink
        return self._outbox

    def _must_wait(self) -> bool:
        outbox, sink, registry = self._outbox, self._sink, self._judge.registry
        return (
            outbox.blocked is not None
            or outbox.full
            or (sink is not None and (sink.blocked is not None or sink.full))
            or (registry is not None and registry.waiting)
        )

    def _wait(self) -> None:
        """Nothing may be delivered now. Stay in the group, wait for an answer or for the next try."""
        for outbox, error in ((self._outbox, DeadLetterError), (self._sink, SinkError)):
            if outbox is None or outbox.blocked is None:
                continue
            attempts = outbox.attempts if outbox.forbidden else 0
            give_up_if_due(outbox.blocked, error, outbox.blocked_for, self._give_up_after, forbidden=attempts)
        if self._judge.registry is not None:
            self._judge.registry.give_up(self._give_up_after)
        self._outbox_in_need.wait(0.05)
        now = time.monotonic()
        if now - self._last_wait_poll >= 1.0:
            self._source.keep_alive()
            self._last_wait_poll = time.monotonic()

    def _keep_house(self) -> None:
        """What is due now and then while a long buffer is handled: commits, keep-alives, acknowledgements."""
        self._settle()
        self._halting.look()
        if self._tick is not None:
            self._tick()
        now = time.monotonic()
        if now - self._due > self._session:
            # This process was stopped, or busy with one record: others may have the partitions by now.
            self._source.confirm()
            now = time.monotonic()
        elif now >= self._source.keep_alive_at or self._client.rebalancing():
            self._source.keep_alive()
            now = time.monotonic()
        elif now >= self._next_commit:
            self._source.commit()
        if now >= self._next_commit:
            self._next_commit = now + self._commit_every
        self._due = min(self._next_commit, self._source.keep_alive_at)


def _demand_choice(name: str, got: object, choices: tuple[str, ...]) -> None:
    """Raises GuardError for an option that is none of its choices."""
    if got not in choices:
        raise GuardError(f"{name}: expected {', '.join(choices[:-1])} or {choices[-1]}, got {got!r}")
