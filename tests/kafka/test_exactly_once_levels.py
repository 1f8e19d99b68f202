"""Levels, halts and breakers of a guard that works exactly once: what is halted is part of the transaction."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocontract import cli
from protocontract.contract import StreamLevel
from protocontract.kafka.client import TopicPartition, errors, offset_to_commit
from protocontract.kafka.exactly_once import ExactlyOnce
from protocontract.kafka.halting import Breach, halt_metadata, halted_by
from tests.kafka.conftest import Broker
from tests.kafka.coordinator import Coordinator
from tests.kafka.support import DEAD, GARBAGE, TOPIC, contract, good
from tests.kafka.test_broker import wait_until
from tests.kafka.test_exactly_once import SINK, World
from tests.kafka.test_exactly_once_broker import Flow
from tests.kafka.test_levels import Clock, Runs, _get, _get_text, levels_log, promising, stream
from tests.kafka.transactions import make
from tests.support.ports import free_ports

P0 = TopicPartition(TOPIC, 0)
#: The eleventh record is the second bad one: 9 of 11 are good, and the tenth left 9 of 10.
MISSES = "gggggggggbbg"
REASON = "compliance 81.81 %, promised 90.00 %"


class Line:
    """One guard over a world's log, run until nothing more comes."""

    def __init__(self, world: World, **options: Any) -> None:
        self.world = world
        self.consumer = world.consumer()
        self.breaches: list[Breach] = []
        self.guard: ExactlyOnce = world.guard(
            self.consumer,
            **{
                "contract": promising("HALT", compliance=0.9, window=60),
                "clock": Clock(),
                "on_breach": self.breaches.append,
                "stop_at_end": False,
                **options,
            },
        )

    def until_idle(self, idle: Callable[[], object] | None = None, polls: int = 3) -> None:
        """Work until the log gave nothing ``polls`` times, pauses after failures apart; call ``idle`` each time."""
        left = [polls]

        def on_idle() -> None:
            left[0] -= self.guard.blocked is None
            if idle is not None:
                idle()
            if left[0] <= 0:
                self.guard.stop()

        self.consumer.on_idle = on_idle
        self.guard._stopping = False
        self.guard.run()

    def close(self) -> None:
        self.guard.close()

    @property
    def written(self) -> str:
        """The metadata beside the committed offset of the first partition."""
        return self.world.log.committed_metadata("group", P0)

    @property
    def out(self) -> tuple[int, int]:
        """Records in the sink and among the dead letters."""
        return len(self.world.log.records(SINK)), len(self.world.log.records(DEAD))


def a_line(text: str = MISSES, **options: Any) -> Line:
    world = World()
    stream(world.log, text)
    return Line(world, **options)


def test_a_halt_is_written_in_the_transaction_that_it_ends() -> None:
    line = a_line()
    line.until_idle()
    # The record that broke the promise, and what comes after it, is in no transaction.
    assert line.out == (9, 1)
    assert line.world.committed() == 10
    assert json.loads(line.written)["reason"] == REASON
    assert line.world.coordinator.events.count("committed") == 1
    assert line.guard.halted is not None
    assert line.guard.halted.startswith(f"payments:0: {REASON} (since 1970-01-12T")
    assert (line.guard.assignment, line.consumer.paused()) == ({P0}, {P0})
    assert [(breach.level, breach.halts) for breach in line.breaches] == [("compliance", True)]
    stats = line.guard.stats
    assert (stats.consumed, stats.judged, stats.open, stats.transactions) == (10, 10, 0, 1)
    line.close()


def test_it_goes_on_with_the_record_before_which_it_stopped() -> None:
    line = a_line()
    line.until_idle()
    line.guard.resume_levels("producer rolled back")
    line.until_idle()
    assert line.guard.halted is None
    assert line.out == (10, 2)
    assert (line.world.committed(), line.written) == (12, "")
    line.close()


def test_a_new_owner_stays_halted_whatever_its_own_contract_says() -> None:
    line = a_line()
    line.until_idle()
    line.close()
    for options in ({}, {"contract": contract()}, {"contract": contract(), "breaker": {"consecutive": 5}}):
        again = Line(line.world, **options)
        again.until_idle()
        assert again.guard.halted is not None
        assert REASON in again.guard.halted
        assert again.out == (9, 1)
        again.close()
        assert halted_by(again.written)
    last = Line(line.world)
    last.until_idle(lambda: last.guard.resume_levels())
    last.until_idle()
    assert last.out == (10, 2)
    assert last.written == ""
    last.close()


def test_a_halt_goes_with_the_partition_to_another_member() -> None:
    line = a_line()
    other_world = World()
    other_world.log, other_world.coordinator = line.world.log, Coordinator(line.world.log)
    line.until_idle()
    other = Line(other_world)
    line.close()
    other.until_idle()
    assert other.guard.halted is not None
    assert other.out == (9, 1)
    other.close()


@pytest.mark.parametrize("step", ["begin", "offsets", "commit", "committed"])
def test_a_halt_is_kept_over_an_abort(step: str) -> None:
    line = a_line(max_records=6)
    # The first transaction is the one before: the halt comes with the second.
    line.world.coordinator.faults[step] = [None, errors.KafkaError("no")]
    line.until_idle(polls=5)
    assert line.guard.halted is not None
    assert REASON in line.guard.halted
    assert json.loads(line.written)["reason"] == REASON
    # What the aborted transaction held is not passed on any more: the line stands. `begin` fails first.
    assert line.world.committed() == (10 if step in ("begin", "committed") else 6)
    assert [breach.level for breach in line.breaches] == ["compliance"]
    line.guard.resume_levels()
    line.until_idle()
    assert line.out == (10, 2)
    assert line.world.committed() == 12
    line.close()


@pytest.mark.parametrize("step", ["begin", "commit"])
def test_the_end_of_a_halt_is_kept_over_an_abort(step: str) -> None:
    line = a_line()
    line.until_idle()
    line.guard.resume_levels()
    line.world.coordinator.faults[step] = [errors.KafkaError("no")]
    line.until_idle(polls=5)
    assert line.guard.halted is None
    assert line.out == (10, 2)
    assert line.written == ""
    line.close()


def test_an_abort_does_not_count_records_twice() -> None:
    line = a_line("gbbbgbbb", contract=contract(), breaker={"consecutive": 5})
    line.world.coordinator.faults["commit"] = [errors.KafkaError("no")]
    line.until_idle(polls=5)
    assert line.guard.halted is None
    assert line.out == (2, 6)
    assert (line.guard.stats.transactions, line.guard.stats.transactions_aborted) == (1, 1)
    line.close()

    # A promise of 80 %: 8 of 10 keep it, and 8 of 11 would not, the two bad ones counted twice.
    line = a_line("gggggbgggb", contract=promising("HALT", compliance=0.8, minimum_records=8), max_records=6)
    line.world.coordinator.faults["commit"] = [errors.KafkaError("no")] * 3
    line.until_idle(polls=9)
    assert line.guard.halted is None
    assert line.out == (8, 2)
    (verdict,) = line.guard.levels["protocontract.test.kafka.Payment"]
    assert (verdict.records, verdict.measured) == (10, 0.8)
    # Nor do counters that a scrape may have seen already: they wait for the commit.
    (watch,) = line.guard._halting.watches
    assert sum(sum(delay.counts) for delay in watch.delays.by_clock.values()) == 10
    line.close()


def test_k77_the_breaker_is_its_partitions_own() -> None:
    world = World(partitions=2)
    stream(world.log, "gbbbbg" + "b" * 50, partition=0)
    stream(world.log, "g" * 30, partition=1)
    line = Line(world, contract=contract(), breaker={"consecutive": 5})
    line.until_idle()
    assert line.out == (32, 8)
    assert (world.committed(), world.committed(1)) == (10, 30)
    assert "breaker: 5 bad records in a row" in halted_by(line.written)
    stream(world.log, "g", partition=1)
    line.until_idle()
    assert world.committed(1) == 31
    assert world.log.committed_metadata("group", TopicPartition(TOPIC, 1)) == ""
    line.close()


def test_k75_a_restart_does_not_close_the_breaker() -> None:
    world = World()
    stream(world.log, "gb" * 200)
    for _ in range(3):
        line = Line(world, contract=contract(), breaker={"ratio": 0.5, "records": 20})
        line.until_idle()
        assert line.guard.halted is not None
        assert line.out == (10, 9)
        line.close()
    assert world.committed() == 19


def test_a_halt_of_one_partition_stops_all_of_the_contract() -> None:
    world = World(partitions=2)
    stream(world.log, "gggggggggbb", partition=0)
    stream(world.log, "g" * 30, partition=1)
    line = Line(world)
    line.until_idle()
    assert line.out == (9, 1)
    # The second partition has nothing committed yet: its halt stands beside its first record.
    assert (world.committed(), world.committed(1)) == (10, 0)
    assert halted_by(world.log.committed_metadata("group", TopicPartition(TOPIC, 1)))
    line.guard.resume_levels()
    line.until_idle()
    assert line.out == (39, 2)
    line.close()


def test_a_rebalance_keeps_a_halt_and_a_lost_partition_is_judged_anew() -> None:
    line = a_line()
    line.until_idle()
    line.world.log.rebalance("group")
    line.until_idle()
    assert line.guard.halted is not None
    line.world.log.evict(line.consumer)
    line.until_idle()
    assert line.guard.halted is not None
    assert line.out == (9, 1)
    line.close()
    # Out of the group when it halts: the records are somebody else's by then, and nothing was written for it.
    line = a_line()
    evicted: list[Breach] = []

    def evict(breach: Breach) -> None:
        if not evicted:
            line.world.log.evict(line.consumer)
        evicted.append(breach)

    line.guard._halting._on_breach = evict
    line.until_idle()
    assert len(evicted) == 2
    assert line.out == (9, 1)
    assert halted_by(line.written)
    line.close()


def test_a_rebalance_while_the_halt_is_committed_keeps_it() -> None:
    line = a_line()

    def rebalance() -> None:
        line.world.log.rebalance("group")
        # The client's own thread hears of it meanwhile.
        line.consumer._listener.on_partitions_revoked({P0})

    line.world.coordinator.faults["offsets"] = [rebalance]
    line.until_idle(polls=5)
    assert line.guard.stats.transactions_aborted == 1
    assert line.guard.halted is not None
    assert halted_by(line.written)
    assert [breach.level for breach in line.breaches] == ["compliance"]
    assert line.out == (0, 0)
    line.close()


def test_nothing_is_committed_between_the_new_generation_and_its_partitions() -> None:
    line = a_line()
    line.until_idle()
    committed = len(line.world.log.commits)
    real = line.consumer.group_metadata
    state = ["<rebalancing>"]

    class Snapshot:
        """As kafka-python's: the generation is the new one as soon as the member has joined."""

        def __init__(self) -> None:
            self.group_id, self.generation_id, self.member_id = real()
            self.state = state[0]

    line.consumer.group_metadata = Snapshot  # type: ignore[assignment,method-assign]
    line.guard._source.poll()
    line.guard.resume_levels()
    line.until_idle()
    # The end of the halt is not written, nor is anything taken: who has the partition is decided later.
    assert (len(line.world.log.commits), line.out) == (committed, (9, 1))
    assert halted_by(line.written)
    state[0] = "<stable>"
    line.until_idle()
    assert (line.out, line.written) == ((10, 2), "")
    line.close()


def test_silence_halts_though_no_record_comes() -> None:
    clock = Clock()
    line = a_line("g", contract=promising("HALT", frequency=60), clock=clock)

    def later() -> None:
        clock.now += 30

    line.until_idle(later, polls=6)
    assert "frequency" in halted_by(line.written)
    assert line.world.committed() == 1
    line.close()


def test_a_halt_that_could_not_be_written_is_written_before_it_ends() -> None:
    line = a_line()

    def stop_at_the_first_sight() -> None:
        if line.guard.halted:
            line.guard.stop()

    line.guard.tick = stop_at_the_first_sight
    line.world.coordinator.faults["commit"] = [errors.KafkaError("no")]
    line.until_idle(polls=20)
    # The transaction that held its records was aborted: they are the next owner's, once somebody has ended the halt.
    assert line.out == (0, 0)
    assert halted_by(line.written)
    line.close()


@pytest.mark.parametrize("exactly_once", [False, True])
@pytest.mark.parametrize(
    ("level", "text", "age", "passes", "reason"),
    [
        ({"compliance": 0.9}, "gggggggggbb", 0, 0, "compliance 81.81 %, promised 90.00 %"),
        ({"error_rate": 0.1}, "gggggggggbb", 0, 0, "error_rate 18.18 %, promised 10.00 %"),
        ({"latency": 300, "minimum_records": 1}, "g", 301, 0, "latency 301 s, promised 300 s"),
        ({"frequency": 60}, "g", 0, 61, "frequency 61 s, promised 60 s"),
        ({"throughput": 1.0, "window": 60}, "gg", 0, 61, "throughput 0/s, promised 1/s"),
    ],
)
def test_each_level_is_judged_in_both_ways(
    exactly_once: bool, level: dict[str, Any], text: str, age: float, passes: float, reason: str
) -> None:
    world, clock = World(), Clock()
    for letter in text:
        value = good(1) if letter == "g" else GARBAGE
        world.log.append(TOPIC, value, timestamp_ms=int((clock.now - age) * 1000))
    options: dict[str, Any] = {"contract": promising(**level), "clock": clock}
    line = Line(world, **options) if exactly_once else Runs(world.log, **options)

    def later() -> None:
        clock.now += passes

    line.guard.start()
    line.until_idle(later)
    assert line.breaches
    assert line.breaches[0].reason == reason
    # An alert stops nothing.
    assert line.guard.stats.delivered + line.guard.stats.dead_lettered == len(text)
    line.guard.close()


@pytest.mark.parametrize("exactly_once", [False, True])
def test_a_level_is_judged_over_its_window(exactly_once: bool, caplog: pytest.LogCaptureFixture) -> None:
    world, clock = World(), Clock()
    options: dict[str, Any] = {"contract": promising(compliance=0.9, window=600), "clock": clock}
    line = Line(world, **options) if exactly_once else Runs(world.log, **options)
    with caplog.at_level("INFO", "protocontract.kafka"):
        line.guard.start()
        stream(world.log, "gggggggggbb")
        line.until_idle()
        # Half a window later the bad ones still count, a whole one later no more.
        for seconds in (300, 320):
            clock.now += seconds
            stream(world.log, "g" * 8)
            line.until_idle()
            clock.now += 2
            line.until_idle()
    assert [(turn["state"], turn["measured"], turn["window_seconds"]) for turn in levels_log(caplog)] == [
        ("missed", 9 / 11, 600),
        ("kept", 1.0, 600),
    ]
    line.guard.close()


@pytest.mark.parametrize("exactly_once", [False, True])
@pytest.mark.parametrize("log_append_time", [False, True])
def test_k80_and_k82_the_clock_and_both_delays_are_told(exactly_once: bool, log_append_time: bool) -> None:
    world, clock = World(), Clock()
    world.log._topics[TOPIC].log_append_time = log_append_time
    world.log._clock = clock
    world.log.append(TOPIC, good(int(clock.now) - 11), timestamp_ms=int(clock.now - 5) * 1000)
    clock.now += 86_400
    for event_time in ("", "amount"):
        options: dict[str, Any] = {
            "contract": contract(level=StreamLevel(latency=60, minimum_records=1), event_time=event_time),
            "clock": clock,
        }
        world.log._groups.clear()
        line = Line(world, **options) if exactly_once else Runs(world.log, **options)
        with pytest.MonkeyPatch.context() as patch:
            # Without the vocabulary's options, nothing says what the number counts.
            patch.setattr("protocontract.levels._epoch_unit", lambda *_: 1.0)
            line.guard.start()
            line.until_idle()
        (watch,) = line.guard._halting.watches
        kind = "LogAppendTime" if log_append_time else "CreateTime"
        assert watch.measured_from == (event_time or kind)
        # A consumer that stood still is told apart from a producer that was late.
        late = 0 if log_append_time else 5
        assert watch.consumer_delay == 86_400 + late
        assert watch.producer_delay == (10 - late if event_time else None)
        (verdict,) = line.guard.levels[contract().full_name]
        assert verdict.measured == 86_400 + (10 if event_time else late)
        # None is dead-lettered for its age.
        assert not world.log.records(DEAD)
        line.guard.close()


def test_an_alert_halts_nothing(caplog: pytest.LogCaptureFixture) -> None:
    line = a_line(contract=promising("ALERT", compliance=0.9, window=60))
    with caplog.at_level("INFO", "protocontract.kafka"):
        line.until_idle()
    assert line.out == (10, 2)
    assert line.written == ""
    assert [(turn["level"], turn["halts"]) for turn in levels_log(caplog)] == [("compliance", False)]
    line.close()


def test_foreign_metadata_halts_nothing() -> None:
    for foreign in ("mine", '{"kind": "x"}', halt_metadata("c", "r", 0.0)[:-1]):
        line = a_line("gg")
        group = line.world.log._group("group")
        group.offsets[P0], group.metadata[P0] = 0, foreign
        assert offset_to_commit(0, metadata=foreign)
        line.until_idle()
        assert line.guard.halted is None
        assert line.out == (2, 0)
        line.close()


def test_the_age_of_the_open_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    line = a_line("gg")
    ages: list[float] = []
    line.world.coordinator.faults["send"] = [None, lambda: ages.append(line.guard.open_transaction_age)]
    line.until_idle()
    assert len(ages) == 1
    assert ages[0] > 0
    assert line.guard.open_transaction_age == 0
    assert line.guard.stats.longest_transaction > ages[0]
    assert line.guard.stats.as_dict()["longest_transaction"] > 0
    line.close()


# -- the process, on a real broker


@pytest.mark.kafka
def test_a_halt_survives_a_kill_and_each_record_comes_once(broker: Broker, tmp_path: Path, capsys: Any) -> None:
    source = random.Random(5)
    kinds = [None] * 1_500 + ["garbage"] * 40 + [None] * 500
    flow = Flow(broker, tmp_path, [make(source, kind) for kind in kinds])
    named = ["--bootstrap-servers", broker.servers, "--source", flow.source, "--group", flow.group]

    def here(*arguments: str) -> tuple[int, str]:
        code = cli.main(["guard", *arguments])
        return code, "".join(capsys.readouterr())

    def check_halted() -> None:
        said = here("status", *named)[1]
        assert said.count("halted: breaker: 3 bad records in a row") == 4, said
        # Each partition holds the good records before its third bad one, and the two before that.
        assert {number for _, number in flow.numbers(flow.sink)} == set(range(1_500))
        assert len(flow.numbers(flow.dead)) == 8
        assert len(flow.numbers(flow.sink)) == 1_500

    try:
        killed = flow.begin("--instance", "one", "--breaker-consecutive", "3")
        wait_until(lambda: here("status", *named)[1].count("halted: breaker") == 4)
        killed.kill()
        killed.communicate()
        check_halted()
        # The next owner has no breaker, and finds the halts all the same.
        port = str(free_ports(1)[0])
        owner = flow.begin("--instance", "two", "--http", port)
        wait_until(lambda: "halted" in (_get_text(port, "/readyz") if _get(port, "/readyz") else ""))
        assert _get(port, "/livez") == 200
        text = _get_text(port, "/metrics")
        assert "data_contract_halted 1.0" in text
        assert "data_contract_open_transaction_age_seconds 0.0" in text
        assert here("resume", *named, "--reason", "rolled back")[0] == 2
        check_halted()
        owner.terminate()
        _, said = owner.communicate(timeout=120)
        assert owner.returncode == 0, said
        # A member with a name is one until its session times out. Whoever is resumed goes on to the next halt.
        wait_until(lambda: here("resume", *named, "--reason", "rolled back")[0] == 0)
        again = flow.begin("--instance", "one", "--breaker-consecutive", "3", "--halt", "exit")
        _, said = again.communicate(timeout=180)
        assert again.returncode == 1, said
        assert "halted: " in said
        # The one that runs is told by its port.
        running = flow.begin("--instance", "one", "--http", port)
        wait_until(lambda: "halted" in (_get_text(port, "/readyz") if _get(port, "/readyz") else ""))
        code, said = here("resume", "--http", port, "--reason", "rolled back")
        assert (code, said.startswith("resumed: ")) == (0, True), said
        wait_until(lambda: flow.committed() == sum(broker.ends(flow.source).values()))
        running.terminate()
        _, said = running.communicate(timeout=120)
        assert running.returncode == 0, said
        flow.check()
        assert here("status", *named)[0] == 0
    finally:
        flow.close()
