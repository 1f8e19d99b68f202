"""Any order of writing, failing transactions, rebalances, deaths and halts: each record is there once, or not yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from protocontract.kafka.client import TopicPartition, errors
from protocontract.kafka.exactly_once import ExactlyOnce
from protocontract.kafka.halting import halted_by
from protocontract.kafka.memory import MemoryConsumer
from protocontract.kafka.transaction import Transactions
from tests.kafka.coordinator import Coordinator
from tests.kafka.support import CONTRACT, DEAD, GARBAGE, TOPIC, good, new_log

SINK = "payments.clean"
PARTITIONS = 3
STEPS = ("init", "begin", "send", "offsets", "commit", "committed")
ERRORS = (errors.KafkaError("x"), errors.KafkaTimeoutError(), errors.NotLeaderForPartitionError())


class Member:
    """One guard of the group, driven some polls at a time."""

    def __init__(self, machine: ExactlyOnceMachine, **options: Any) -> None:
        self.coordinator = Coordinator(machine.log)
        self.consumer: MemoryConsumer = machine.log.consumer(TOPIC, isolation_level="read_committed")
        # A poll that finds nothing returns at once.
        self.consumer.on_idle = lambda: None
        self.guard = ExactlyOnce(
            self.consumer,
            CONTRACT,
            Transactions(self.coordinator.producer),
            **{
                "sink": SINK,
                "dead_letter_topic": DEAD,
                "backoff": (0.0, 0.0),
                "grace": 0.0,
                "max_records": 5,
                "breaker": {"consecutive": 3},
                **options,
            },
        )
        self.guard.start()

    def step(self, polls: int) -> None:
        """Let it come round so many times."""
        left = [polls]

        def tick() -> None:
            left[0] -= 1
            if left[0] < 0:
                self.guard.stop()

        self.guard.tick = tick
        self.guard._stopping = False
        self.guard.run()


class ExactlyOnceMachine(RuleBasedStateMachine):
    """Writers, members of one group, and trouble."""

    @initialize()
    def begin(self) -> None:
        self.log = new_log(PARTITIONS)
        self.log.create_topic(SINK, 2)
        self.members: list[Member] = [Member(self), Member(self)]
        self.bad: set[bytes] = set()
        #: Where the line of a partition stood when its halt was seen first, and the halt.
        self.stood: dict[int, tuple[int | None, str]] = {}
        #: Partitions that somebody may have let go on since.
        self.resumed: set[int] = set()

    # -- what happens

    @rule(partition=st.integers(0, PARTITIONS - 1), kinds=st.lists(st.sampled_from("gggbbn"), min_size=1, max_size=12))
    def write(self, partition: int, kinds: list[str]) -> None:
        for kind in kinds:
            key = b"%d:%d" % (partition, self.log.end(TopicPartition(TOPIC, partition)))
            self.log.append(TOPIC, {"g": good(1), "b": GARBAGE, "n": None}[kind], key, partition=partition)
            if kind == "b":
                self.bad.add(key)

    @rule(partition=st.integers(0, PARTITIONS - 1))
    def write_marker(self, partition: int) -> None:
        self.log.append_marker(TOPIC, partition)

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9), polls=st.integers(1, 6))
    def work(self, which: int, polls: int) -> None:
        self.members[which % len(self.members)].step(polls)

    @precondition(lambda self: self.members)
    @rule(rounds=st.integers(1, 8))
    def work_together(self, rounds: int) -> None:
        # A rebalance ends when all have come round.
        for _ in range(rounds):
            for member in self.members:
                member.step(1)

    @rule(rounds=st.integers(4, 8), bad=st.sampled_from((0, 0, 1, 2, 4)))
    def write_and_work(self, rounds: int, bad: int) -> None:
        for partition in range(PARTITIONS):
            self.write(partition, [*"gg", *"b" * bad, "g"])
        self.work_together(rounds)

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9), step=st.sampled_from(STEPS), error=st.sampled_from(ERRORS), after=st.integers(0, 3))
    def break_a_step(self, which: int, step: str, error: Exception, after: int) -> None:
        self.members[which % len(self.members)].coordinator.faults[step] = [*[None] * after, error]

    @precondition(lambda self: self.members)
    @rule(
        which=st.integers(0, 9),
        step=st.sampled_from(STEPS),
        trouble=st.sampled_from(("rebalance", "revoked", "evict", "evict unnoticed")),
    )
    def disturb_a_step(self, which: int, step: str, trouble: str) -> None:
        member = self.members[which % len(self.members)]
        member.coordinator.faults[step] = [self._trouble(member.consumer, trouble)]

    def _trouble(self, consumer: MemoryConsumer, trouble: str) -> Callable[[], None]:
        def happen() -> None:
            if trouble in ("rebalance", "revoked"):
                self.log.rebalance("group")
            if trouble == "revoked" and consumer._listener is not None:
                consumer._listener.on_partitions_revoked(consumer.assignment())
            if trouble.startswith("evict"):
                self.log.evict(consumer, noticed=trouble == "evict")

        return happen

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
        self.log.evict(self.members.pop(which % len(self.members)).consumer)

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9))
    def close(self, which: int) -> None:
        self.members.pop(which % len(self.members)).guard.close()

    @precondition(lambda self: self.members)
    @rule(which=st.integers(0, 9))
    def resume(self, which: int) -> None:
        self.members[which % len(self.members)].guard.resume_levels("go on")
        # It is for the partitions that the member has when it comes round.
        self.resumed.update(range(PARTITIONS))

    # -- what always holds

    @invariant()
    def each_record_is_there_once_or_not_yet(self) -> None:
        if not hasattr(self, "log"):
            return
        sink, dead = ([record.key for record in self.log.records(topic)] for topic in (SINK, DEAD))
        assert len(set(sink)) == len(sink), "a record came twice"
        assert len(set(dead)) == len(dead), "a dead letter came twice"
        assert not self.bad.intersection(sink)
        assert self.bad.issuperset(dead)
        there = {*sink, *dead}
        for record in self.log.records(TOPIC):
            committed = self.log.committed("group", TopicPartition(TOPIC, record.partition)) or 0
            # Records and offset are one: what is below is there, what is above is not.
            assert (record.key in there) == (record.offset < committed), record.key

    @invariant()
    def records_keep_their_order(self) -> None:
        if not hasattr(self, "log"):
            return
        last: dict[tuple[int, bytes], int] = {}
        for record in self.log.records(SINK):
            assert record.key is not None
            partition, _, offset = record.key.partition(b":")
            place = (record.partition, partition)
            assert last.get(place, -1) < int(offset)
            last[place] = int(offset)

    @invariant()
    def a_halted_line_stands(self) -> None:
        for partition in range(PARTITIONS if hasattr(self, "log") else 0):
            tp = TopicPartition(TOPIC, partition)
            stands = self.log.committed("group", tp), self.log.committed_metadata("group", tp)
            if partition in self.resumed and stands != self.stood.get(partition):
                self.resumed.discard(partition)
                self.stood.pop(partition, None)
            if halted_by(stands[1]):
                assert self.stood.setdefault(partition, stands) == stands, "a halted line went on"
            else:
                assert partition not in self.stood, "a halt is gone though nobody ended it"

    def teardown(self) -> None:
        if not hasattr(self, "log"):
            return
        for member in self.members:
            self.log.evict(member.consumer)
        # Whoever comes last ends all halts, has no breaker, and brings it to an end.
        last = Member(self, breaker=None, stop_at_end=True)
        rounds = [2_000]

        def tick() -> None:
            rounds[0] -= 1
            if last.guard.halted:
                last.guard.resume_levels()
            if rounds[0] <= 0:
                last.guard.stop()

        last.guard.tick = tick
        last.guard.run()
        last.guard.close()
        assert rounds[0] > 0, "it did not come to its end"
        self.each_record_is_there_once_or_not_yet()
        for partition in range(PARTITIONS):
            tp = TopicPartition(TOPIC, partition)
            if any(record.partition == partition for record in self.log.records(TOPIC)):
                assert self.log.committed("group", tp) == self.log.end(tp)
            assert self.log.committed_metadata("group", tp) == ""


TestExactlyOnceMachine = ExactlyOnceMachine.TestCase
TestExactlyOnceMachine.settings = settings(
    max_examples=150,
    stateful_step_count=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
