"""Any order of writing, reading, failing, rebalancing and dying: no loss, safe commits, order, balanced books."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from protocontract.kafka import Guard
from protocontract.kafka.client import TopicPartition, errors
from protocontract.kafka.memory import MemoryConsumer, SendFault
from tests.kafka.support import DEAD, GARBAGE, TOPIC, dead_headers, good, new_guard, new_log

PARTITIONS = 3

FAULTS = (
    SendFault("raise"),
    SendFault("fail"),
    SendFault("lost_answer"),
    SendFault("hold"),
    SendFault("fail", errors.InvalidTimestampError()),
    SendFault("raise", errors.KafkaConnectionError("x")),
)


class Member:
    """One guard of the group, driven a step at a time."""

    def __init__(self, machine: GuardMachine) -> None:
        self.consumer: MemoryConsumer = machine.log.consumer(TOPIC)
        self.guard: Guard[Any] = new_guard(
            machine.log,
            self.consumer,
            stop_at_end=False,
            commit_every=0.0,
            backoff=(0.0, 0.0),
            grace=0.2,
            max_pending=5,
            **machine.OPTIONS,
        )
        self.guard.start()
        self.records: Iterator[Any] = iter(())
        self.idle = False
        self.consumer.on_idle = self._idle

    def _idle(self) -> None:
        # Leave the loop, so that one step of the machine ends.
        self.guard._stopping = True

    def step(self, machine: GuardMachine, count: int) -> None:
        """Take up to so many records; the last one stays in hand."""
        guard = self.guard
        guard._stopping = False
        # A rebalance or a held acknowledgement makes the loop wait: that is one step, not a hang.
        guard._source.poll = self._bounded(type(guard._source).poll)  # type: ignore[method-assign]
        for taken, record in enumerate(guard, start=1):
            machine.deliver(self, record)
            if taken == count:
                break

    def _bounded(self, poll: Any) -> Any:
        source = self.guard._source
        polls = 0

        def bounded(timeout_ms: int, *, hold: bool = False) -> None:
            nonlocal polls
            poll(source, timeout_ms, hold=hold)
            polls += 1
            if polls > 3:
                self.guard._stopping = True

        return bounded


class GuardMachine(RuleBasedStateMachine):
    """Writers, members of one group, and trouble."""

    #: What the members are told beyond the usual.
    OPTIONS: ClassVar[dict[str, Any]] = {}
    #: And the one that brings it to an end.
    LAST_OPTIONS: ClassVar[dict[str, Any]] = {}

    @initialize()
    def begin(self) -> None:
        self.log = new_log(PARTITIONS)
        self.faults: list[SendFault] = []
        self.log.on_send = lambda topic, value: self.faults.pop() if self.faults else None
        self.members: list[Member] = [Member(self)]
        self.bad: set[tuple[int, int]] = set()
        self.nulls: set[tuple[int, int]] = set()
        self.delivered: dict[tuple[int, int], int] = {}
        self.last: dict[tuple[int, int, int, bytes], int] = {}

    def deliver(self, member: Member, record: Any) -> None:
        place = (record.partition, record.offset)
        assert place not in self.bad, "an invalid record was delivered"
        assert member.consumer.group_metadata()[1:] == member.guard._source.membership, "not the owner"
        # Within one member and generation, a partition's records come in order. The record left in hand comes again.
        line = (id(member), member.consumer._generation, record.partition, self.line_of(record))
        before = self.last.get(line)
        assert before is None or record.offset >= before, "order"
        self.last[line] = record.offset
        self.delivered[place] = self.delivered.get(place, 0) + 1

    def line_of(self, record: Any) -> bytes:
        """What records keep their order with: all of a partition."""
        del record
        return b""

    # -- what happens

    @rule(partition=st.integers(0, PARTITIONS - 1), kinds=st.lists(st.sampled_from("ggggbn"), min_size=1, max_size=12))
    def write(self, partition: int, kinds: list[str]) -> None:
        for number, kind in enumerate(kinds):
            value = {"g": good(1), "b": GARBAGE, "n": None}[kind]
            record = self.log.append(TOPIC, value, b"k%d" % (number % 3), partition=partition)
            if kind != "g":
                (self.bad if kind == "b" else self.nulls).add((partition, record.offset))

    @rule(partition=st.integers(0, PARTITIONS - 1))
    def write_marker(self, partition: int) -> None:
        self.log.append_marker(TOPIC, partition)

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9), count=st.integers(1, 8))
    def read(self, which: int, count: int) -> None:
        self.members[which % len(self.members)].step(self, count)

    @rule(faults=st.lists(st.sampled_from(FAULTS), min_size=1, max_size=4))
    def break_sends(self, faults: list[SendFault]) -> None:
        self.faults = list(faults)

    @rule()
    def release(self) -> None:
        self.log.release()

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9))
    def break_a_commit(self, which: int) -> None:
        self.members[which % len(self.members)].consumer.fail_commits = [errors.RequestTimedOutError()]

    @precondition(lambda self: len(self.members) < 3)
    @rule()
    def join(self) -> None:
        self.members.append(Member(self))

    @rule()
    def rebalance(self) -> None:
        self.log.rebalance("group")

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9), noticed=st.booleans())
    def evict(self, which: int, noticed: bool) -> None:
        self.log.evict(self.members[which % len(self.members)].consumer, noticed=noticed)

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9))
    def die(self, which: int) -> None:
        member = self.members.pop(which % len(self.members))
        self.log.evict(member.consumer)

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9))
    def close(self, which: int) -> None:
        self.members.pop(which % len(self.members)).guard.close()

    # -- what always holds

    def dead_places(self) -> set[tuple[int, int]]:
        return {
            (int(headers["protocontract.partition"]), int(headers["protocontract.offset"]))
            for headers in map(dead_headers, self.log.records(DEAD))
        }

    @invariant()
    def commits_are_safe(self) -> None:
        if not hasattr(self, "log"):
            return
        dead = self.dead_places()
        assert dead <= self.bad, "a good record was dead-lettered"
        for partition in range(PARTITIONS):
            committed = self.log.committed("group", TopicPartition(TOPIC, partition)) or 0
            for record in self.log.records(TOPIC):
                if record.partition != partition or record.offset >= committed:
                    continue
                place = (partition, record.offset)
                assert place in self.delivered or place in dead or place in self.nulls, f"{place} was lost"

    @invariant()
    def books_balance(self) -> None:
        for member in getattr(self, "members", []):
            for counts in member.guard.stats.partitions.values():
                assert counts.open >= 0
                assert counts.consumed == (
                    counts.delivered + counts.dead_lettered + counts.tombstones + counts.skipped + counts.open
                )

    def teardown(self) -> None:
        if not hasattr(self, "log"):
            return
        for member in self.members:
            self.log.evict(member.consumer)
        self.faults = []
        self.log.release()
        # Whoever comes last brings it to an end.
        with new_guard(self.log, **self.LAST_OPTIONS) as guard:
            for delivered in guard:
                place = (delivered.partition, delivered.offset)
                assert place not in self.bad
                self.delivered[place] = self.delivered.get(place, 0) + 1
        for counts in guard.stats.partitions.values():
            assert counts.open == 0
        dead = self.dead_places()
        for record in self.log.records(TOPIC):
            place = (record.partition, record.offset)
            if place in self.bad:
                assert place in dead
            elif place not in self.nulls:
                assert place in self.delivered
        for partition in range(PARTITIONS):
            # Where nothing was ever to be read, nothing is committed.
            if any(record.partition == partition for record in self.log.records(TOPIC)):
                tp = TopicPartition(TOPIC, partition)
                assert self.log.committed("group", tp) == self.log.end(tp)


class BlockedKeys(GuardMachine):
    """Later records of a rejected one's key wait until its dead letter is acknowledged; those of other keys do not."""

    OPTIONS: ClassVar[dict[str, Any]] = {"on_reject": "block_key"}

    @rule(partition=st.integers(0, PARTITIONS - 1), which=st.integers(0, 9))
    def leave_one_unanswered(self, partition: int, which: int) -> None:
        self.faults = [SendFault("hold")] * 4
        self.write(partition, list("bggggg"))
        if self.members:
            self.read(which, 8)

    def line_of(self, record: Any) -> bytes:
        """A key keeps its order."""
        return bytes(record.key)

    def deliver(self, member: Member, record: Any) -> None:
        super().deliver(member, record)
        outbox = member.guard._outbox
        for sending in (*outbox._flying.values(), *outbox._waiting):
            assert (
                not sending.partition.alive
                or (sending.partition.tp.partition, sending.letter.key) != (record.partition, record.key)
                or sending.offset > record.offset
            ), "an earlier record of the key has no acknowledged dead letter yet"


class Halting(GuardMachine):
    """Breakers open and are closed by hand: what is halted stays so, and nothing is lost of it."""

    OPTIONS: ClassVar[dict[str, Any]] = {"breaker": {"consecutive": 3}}

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9))
    def resume(self, which: int) -> None:
        self.members[which % len(self.members)].guard.resume_levels("tried")

    @rule(partition=st.integers(0, PARTITIONS - 1))
    def write_a_run_of_bad_ones(self, partition: int) -> None:
        self.write(partition, ["b"] * 4)


class Truncating(GuardMachine):
    """The dead-letter topic does not take large records as a whole."""

    OPTIONS: ClassVar[dict[str, Any]] = {"too_large": "truncate"}
    LAST_OPTIONS: ClassVar[dict[str, Any]] = OPTIONS

    @initialize()
    def begin(self) -> None:
        super().begin()
        self.log._topics[DEAD].max_message_bytes = 2_000

    @rule(partition=st.integers(0, PARTITIONS - 1))
    def write_a_large_one(self, partition: int) -> None:
        record = self.log.append(TOPIC, GARBAGE + bytes(3_000), b"k", partition=partition)
        self.bad.add((partition, record.offset))


SETTINGS = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
TestGuardMachine = GuardMachine.TestCase
TestGuardMachine.settings = SETTINGS
TestBlockedKeys = BlockedKeys.TestCase
TestBlockedKeys.settings = settings(SETTINGS, max_examples=30)
TestHalting = Halting.TestCase
TestHalting.settings = settings(SETTINGS, max_examples=30)
TestTruncating = Truncating.TestCase
TestTruncating.settings = settings(SETTINGS, max_examples=30)
