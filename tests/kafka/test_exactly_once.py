"""Exactly once, in memory, with a transactional producer that has kafka-python's habits."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from protocontract.kafka import DeadLetterError, GuardError, SinkError, SourceError, client
from protocontract.kafka.client import TopicPartition, errors
from protocontract.kafka.exactly_once import ExactlyOnce
from protocontract.kafka.memory import MemoryConsumer, SendFault
from protocontract.kafka.transaction import Transactions, Watchdog
from tests.kafka.coordinator import Coordinator
from tests.kafka.scenario_table import until
from tests.kafka.support import CONTRACT, DEAD, GARBAGE, TOPIC, dead_headers, good, new_log

SINK = "payments.clean"


class World:
    """A log, a coordinator and guards over them."""

    def __init__(self, partitions: int = 1, records: list[bytes | None] | None = None) -> None:
        self.log = new_log(partitions)
        self.log.create_topic(SINK, partitions)
        self.coordinator = Coordinator(self.log)
        for number, value in enumerate(records or ()):
            self.log.append(TOPIC, value, key=b"%d" % number, partition=number % partitions)

    def consumer(self, **config: Any) -> MemoryConsumer:
        return self.log.consumer(TOPIC, **{"isolation_level": "read_committed", **config})

    def guard(self, consumer: MemoryConsumer | None = None, **options: Any) -> ExactlyOnce:
        transactions = Transactions(self.coordinator.producer, call_timeout=options.pop("call_timeout", 5.0))
        return ExactlyOnce(
            consumer or self.consumer(),
            options.pop("contract", CONTRACT),
            transactions,
            **{
                "sink": SINK,
                "dead_letter_topic": DEAD,
                "stop_at_end": True,
                "backoff": (0.001, 0.01),
                "grace": 0.5,
                **options,
            },
        )

    def run(self, guard: ExactlyOnce | None = None, **options: Any) -> ExactlyOnce:
        guard = guard or self.guard(**options)
        try:
            guard.run()
        finally:
            guard.close()
        return guard

    def keys(self, topic: str) -> list[bytes]:
        return [record.key for record in self.log.records(topic) if record.key is not None]

    def committed(self, partition: int = 0) -> int | None:
        return self.log.committed("group", TopicPartition(TOPIC, partition))


def mixed(count: int) -> list[bytes | None]:
    """Every fifth record bad."""
    return [GARBAGE if number % 5 == 2 else good(number) for number in range(count)]


def check_all_once(world: World, count: int) -> None:
    expected_dead = [b"%d" % number for number in range(count) if number % 5 == 2]
    expected_good = [b"%d" % number for number in range(count) if number % 5 != 2]
    assert sorted(world.keys(SINK)) == sorted(expected_good)
    assert sorted(world.keys(DEAD)) == sorted(expected_dead)


def test_good_records_dead_letters_and_offsets_are_one_transaction() -> None:
    world = World(records=mixed(10))
    guard = world.run()
    check_all_once(world, 10)
    assert world.committed() == 10
    assert world.coordinator.events == ["init", "begin", *["send"] * 10, "offsets", "commit", "committed"]
    stats = guard.stats
    assert (stats.consumed, stats.judged, stats.delivered, stats.dead_lettered, stats.open) == (10, 10, 8, 2, 0)
    assert stats.by_rule == {"wire.malformed": 2}
    assert guard.lag == 0 or guard.lag is None
    headers = dead_headers(world.log.records(DEAD)[0])
    assert (headers["protocontract.offset"], headers["protocontract.rule_ids"]) == (b"2", b"wire.malformed")
    assert dead_headers(world.log.records(SINK)[0])["protocontract.normalized"] == CONTRACT.fingerprint.encode()


def test_tombstones_pass_and_what_is_nothing_is_dead_lettered() -> None:
    world = World()
    world.log.append(TOPIC, None, key=b"gone")
    world.log.append(TOPIC, None)
    stats = world.run().stats
    assert [(r.key, r.value) for r in world.log.records(SINK)] == [(b"gone", None)]
    assert dead_headers(world.log.records(DEAD)[0])["protocontract.rule_ids"] == b"wire.null"
    assert (stats.tombstones, stats.dead_lettered, stats.open) == (1, 1, 0)


def test_transactions_are_bounded() -> None:
    world = World(records=mixed(25))
    world.run(max_records=10)
    check_all_once(world, 25)
    assert world.coordinator.events.count("committed") == 3
    assert [offset for _, _, offset in world.log.commits] == [10, 20, 25]


def test_a_connection_that_is_too_slow_for_a_transaction_gets_smaller_ones() -> None:
    """More than 150 records never end in time: the same records in one transaction would fail for ever."""
    world = World(records=mixed(2000))
    events = world.coordinator.events

    class Always(list[Any]):
        def pop(self, _: Any = 0) -> Any:
            return self[0]

    def slow() -> None:
        if events[::-1].index("begin") > 150:
            raise errors.KafkaTimeoutError

    world.coordinator.faults["offsets"] = Always([slow])
    guard = world.run(give_up_after=60.0)
    check_all_once(world, 2000)
    assert guard.stats.transactions_aborted <= guard.stats.transactions + 2


def test_markers_at_the_end_are_committed() -> None:
    world = World(records=mixed(5))
    world.log.append_marker(TOPIC)
    world.run()
    assert world.committed() == 6
    world = World()
    world.log.append_marker(TOPIC)
    world.run()
    assert world.committed() == 1
    assert "send" not in world.coordinator.events


@pytest.mark.parametrize("step", ["begin", "send", "offsets", "commit", "committed"])
def test_after_any_error_the_producer_is_thrown_away(step: str) -> None:
    world = World(records=mixed(10))
    world.coordinator.faults[step] = [errors.KafkaError("no")]
    guard = world.run(max_records=4)
    check_all_once(world, 10)
    assert world.committed() == 10
    assert len(world.coordinator.made) == 2
    assert world.coordinator.made[0].closed
    assert guard.stats.consumed == (10 if step != "committed" else 6)
    assert guard.stats.send_errors == 1


def test_a_send_that_failed_aborts_although_the_commit_would_succeed() -> None:
    world = World(records=mixed(10))
    failed: list[bytes | None] = []

    def once(topic: str, value: bytes | None) -> SendFault | None:
        if topic == SINK and not failed:
            failed.append(value)
            return SendFault("fail")
        return None

    world.log.on_send = once
    world.run()
    assert failed
    check_all_once(world, 10)
    events = world.coordinator.events
    assert events.count("commit") == 1
    assert "abort" in events[: events.index("commit")]


def test_the_member_is_the_one_of_the_poll() -> None:
    world = World(records=mixed(4))
    consumer = world.consumer()
    guard = world.guard(consumer)
    # The membership is gone while the transaction is filled: the live metadata is (-1, "").
    world.coordinator.faults["send"] = [None, lambda: world.log.evict(consumer)]
    world.run(guard)
    check_all_once(world, 4)
    assert world.coordinator.events.count("abort") == 1
    assert [member.generation_id for member in world.coordinator.members] == [2]
    assert all(member.generation_id >= 0 and member.member_id for member in world.coordinator.members)


def test_a_generation_below_0_is_refused() -> None:
    world = World(records=mixed(4))
    consumer = world.consumer()
    guard = world.guard(consumer)
    real = consumer.group_metadata
    answers = [(-1, "")] * 2

    def metadata() -> Any:
        if consumer._state and answers:
            generation, member = answers.pop()
            return real()._replace(generation_id=generation, member_id=member)
        return real()

    consumer.group_metadata = metadata  # type: ignore[method-assign]
    world.run(guard)
    check_all_once(world, 4)
    assert all(member.generation_id >= 0 for member in world.coordinator.members)


@pytest.mark.parametrize("call", ["on_partitions_revoked", "on_partitions_lost", "on_partitions_assigned"])
@pytest.mark.parametrize("step", ["send", "offsets"])
def test_a_rebalance_aborts(call: str, step: str) -> None:
    world = World(records=mixed(6))
    consumer = world.consumer()
    guard = world.guard(consumer)
    world.coordinator.faults[step] = [lambda: getattr(consumer._listener, call)({TopicPartition(TOPIC, 0)})]
    world.run(guard)
    check_all_once(world, 6)
    assert world.coordinator.events.count("abort") == 1
    assert len(world.coordinator.made) == 2


def test_two_members_share_the_work() -> None:
    world = World(partitions=4, records=mixed(40))
    other_world = World()
    other_world.log, other_world.coordinator = world.log, Coordinator(world.log)
    first, second = world.guard(max_records=3), other_world.guard(max_records=3)
    threads = [
        threading.Thread(target=world.run, args=(first,)),
        threading.Thread(target=other_world.run, args=(second,)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    check_all_once(world, 40)
    assert first.stats.consumed + second.stats.consumed == 40


def test_a_call_without_an_answer_is_left_behind() -> None:
    world = World(records=mixed(5))
    hang = threading.Event()
    world.coordinator.faults["commit"] = [lambda: hang.wait(120) and None]
    guard = world.guard(call_timeout=0.1)
    started = time.monotonic()
    world.run(guard)
    assert time.monotonic() - started < 60
    hang.set()
    time.sleep(0.1)
    # The call that was left behind comes back, and its producer is fenced.
    check_all_once(world, 5)


def test_a_dead_letter_that_is_too_large_is_found_and_cut() -> None:
    records = mixed(40)
    large = GARBAGE + b"x" * 600_000
    records[17] = large
    world = World(records=records)
    world.log._topics[DEAD].max_message_bytes = 550_000
    guard = world.run(too_large="truncate")
    assert len(world.log.records(SINK)) == 32
    (cut,) = [r for r in world.log.records(DEAD) if r.key == b"17"]
    assert dead_headers(cut)["protocontract.truncated"] == b"true"
    assert cut.value == large[: 512 * 1024]
    assert guard.stats.truncated == 1
    assert world.keys(SINK) == sorted(world.keys(SINK), key=int)


def test_a_dead_letter_that_is_too_large_blocks_without_loss() -> None:
    records = mixed(10)
    records[7] = GARBAGE + b"x" * 2_000
    world = World(records=records)
    world.log._topics[DEAD].max_message_bytes = 1_000
    guard = world.guard(give_up_after=0.2)
    with pytest.raises(DeadLetterError, match=r"payments:0:7 is larger than topic payments\.dead takes"):
        world.run(guard)
    assert world.committed() == 7
    assert world.keys(SINK) == [b"%d" % number for number in range(7) if number != 2]


def test_a_sink_that_stays_away_is_told() -> None:
    world = World(records=mixed(3))
    error = errors.NotLeaderForPartitionError()
    world.log.on_send = lambda topic, _: SendFault("fail", error) if topic == SINK else None
    guard = world.guard(give_up_after=0.1)
    with pytest.raises(SinkError, match=r"the sink: topic payments\.clean cannot be written"):
        world.run(guard)
    # What the process turns into exit code 1 when it is told to end.
    assert guard.unacknowledged == 3
    assert not world.log.records(DEAD)
    assert world.committed() is None


def test_missing_rights_end_it() -> None:
    world = World(records=mixed(3))
    error = errors.TopicAuthorizationFailedError()
    world.log.on_send = lambda topic, _: SendFault("fail", error) if topic == DEAD else None
    with pytest.raises(DeadLetterError, match="grant the right to write"):
        world.run()


def test_missing_rights_at_the_start() -> None:
    world = World()
    world.coordinator.faults["init"] = [errors.TransactionalIdAuthorizationFailedError()]
    with pytest.raises(GuardError, match="grant WRITE on the transactional id"):
        world.run()


@pytest.mark.parametrize(
    "error",
    [
        errors.InvalidProducerEpochError(),
        errors.ProducerFencedError(),
        errors.FencedInstanceIdError(),
        errors.IllegalStateError("Cannot call send in state FATAL_ERROR"),
        errors.KafkaError("previous", errors.ProducerFencedError()),
    ],
)
def test_being_fenced_ends_a_process_whose_id_is_its_own(error: Exception) -> None:
    world = World(records=mixed(3))
    world.coordinator.faults["offsets"] = [error]
    with pytest.raises(GuardError, match="another process uses this --instance"):
        world.run(sole=True)
    assert not world.log.records(SINK)
    world.coordinator.faults["offsets"] = [error]
    # With an id that nobody else can have, it was this process's own transaction that took too long.
    world.run()
    check_all_once(world, 3)


def test_who_was_taken_over_does_not_fence_who_took_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its transaction fails for another reason, and it asks the group before it makes a new producer."""
    world = World(records=mixed(3))
    asked: list[Any] = []

    def ask(consumer: Any) -> None:
        asked.append(consumer)
        raise errors.RebalanceInProgressError if len(asked) == 1 else errors.FencedInstanceIdError

    monkeypatch.setattr("protocontract.kafka.client.ask_membership", ask)
    world.coordinator.faults["offsets"] = [errors.KafkaTimeoutError()]
    with pytest.raises(GuardError, match="another process uses this --instance"):
        world.run(sole=True)
    assert len(asked) == 2
    assert world.coordinator.events.count("init") == 1, "a second producer fences whoever has the name now"
    assert not world.log.records(SINK)


def test_who_gets_no_answer_about_its_name_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(records=mixed(3))
    asked: list[Any] = []

    def ask(consumer: Any) -> None:
        asked.append(consumer)
        raise errors.CoordinatorNotAvailableError

    monkeypatch.setattr("protocontract.kafka.client.ask_membership", ask)
    monkeypatch.setattr("protocontract.kafka.exactly_once._UNSURE_SECONDS", 0.0)
    world.coordinator.faults["offsets"] = [errors.KafkaTimeoutError()]
    world.run(sole=True)
    assert len(asked) == 1
    check_all_once(world, 3)


def test_no_committed_offset_is_a_gap_where_it_was_said_so() -> None:
    world = World(records=mixed(3))
    with pytest.raises(SourceError):
        world.run(world.guard(world.consumer(auto_offset_reset="none")))
    assert not world.log.records(SINK)


def test_an_offset_in_a_transaction_without_an_end_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The broker answers UNSTABLE_OFFSET_COMMIT while a transaction holds the offset: the client asks until its time
    is over."""
    monkeypatch.setattr("protocontract.kafka.committed_source._DECIDED_WITHIN", 0.0)
    world = World(records=mixed(10))
    consumer = world.consumer()
    answers: list[str | None] = []

    def undecided(*_: Any, **__: Any) -> Any:
        answers.append(guard.blocked)
        if answers[-1]:
            del consumer.committed
        raise errors.KafkaTimeoutError

    consumer.committed = undecided  # type: ignore[method-assign]
    guard = world.guard(consumer)
    world.run(guard)
    said = "the committed offset of payments:0 is not known (KafkaTimeoutError)"
    assert (answers[0], answers[-1]) == (None, said)
    assert [said in record.getMessage() for record in caplog.records if "find-hanging" in record.getMessage()] == [True]
    assert guard.blocked is None
    check_all_once(world, 10)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"isolation_level": "read_uncommitted"}, "isolation_level"),
        ({"enable_auto_commit": True}, "enable_auto_commit"),
        ({"auto_offset_reset": "latest"}, "auto_offset_reset"),
        ({"group_id": None}, "group_id"),
        ({"value_deserializer": str}, "value_deserializer"),
    ],
)
def test_the_consumer_is_checked(config: dict[str, Any], said: str) -> None:
    world = World()
    with pytest.raises(GuardError, match=said):
        world.guard(world.consumer(**config))


@pytest.mark.parametrize("module", ["aiokafka.consumer.consumer", "cimpl"])
def test_other_clients_are_refused_with_the_reason(module: str) -> None:
    other: Any = type("Consumer", (), {"__module__": module, "config": {}})()
    with pytest.raises(GuardError, match=r"cannot be used here: offsets are committed for a member and its generation"):
        World().guard(other)


@pytest.mark.parametrize("topic", [SINK, DEAD])
def test_a_topic_is_missing(topic: str) -> None:
    world = World()
    world.log.delete_topic(topic)
    with pytest.raises(GuardError, match=f"topic {topic} cannot be used"):
        world.run()


def test_a_transactional_producer_is_not_told_less() -> None:
    for config in ({"acks": 1}, {"transactional_id": "mine"}, {"value_serializer": str}):
        with pytest.raises(ValueError, match="leave"):
            client.transactional_factory(config, "id", 10_000)


def test_the_watchdog_ends_what_does_not_stop() -> None:
    ended: list[str] = []
    stopping = False
    watchdog = Watchdog(lambda: stopping, 0.2, end=ended.append)
    watchdog.start()
    time.sleep(0.4)
    assert not ended
    stopping = True
    until(lambda: bool(ended))
    assert ended == ["not stopped within 0.2 s; what was not committed will be read again"]
    watchdog = Watchdog(lambda: True, 0.3, end=ended.append)
    watchdog.start()
    watchdog.stop()
    time.sleep(0.6)
    assert len(ended) == 1
