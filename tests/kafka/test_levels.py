"""Levels judged while a guard runs, the breaker, and what a halt leaves behind. The clock is the tests' own."""

from __future__ import annotations

import json
import logging
import random
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest

from protocontract import cli
from protocontract.contract import StreamLevel
from protocontract.kafka import Guard, GuardError
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.halting import Breach, halt_metadata, halted_by
from protocontract.kafka.memory import MemoryLog
from tests.kafka.support import DEAD, GARBAGE, TOPIC, committed, contract, good, new_guard, new_log
from tests.kafka.transactions import NAME as FINANCE
from tests.kafka.transactions import PROTOS, make
from tests.support.ports import free_ports

P0 = TopicPartition(TOPIC, 0)


class Clock:
    """Wall clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


class Runs:
    """One guard over a log, run until nothing more comes."""

    def __init__(self, log: MemoryLog, **options: Any) -> None:
        self.log = log
        self.consumer = log.consumer(TOPIC)
        self.breaches: list[Breach] = []
        self.guard: Guard[Any] = new_guard(
            log, self.consumer, stop_at_end=False, on_breach=self.breaches.append, **options
        )
        self.seen: list[tuple[int, int]] = []

    def until_idle(self, idle: Callable[[], object] | None = None, polls: int = 3) -> None:
        """Take records until the log gave nothing ``polls`` times; ``idle`` is called each time."""
        left = [polls]

        def on_idle() -> None:
            left[0] -= 1
            if idle is not None:
                idle()
            if left[0] <= 0:
                self.guard._stopping = True

        self.consumer.on_idle = on_idle
        self.guard._stopping = False
        self.seen += [(record.partition, record.offset) for record in self.guard]


def stream(log: MemoryLog, text: str, partition: int = 0) -> None:
    """A record for each letter: ``g`` good, ``b`` bad."""
    for number, letter in enumerate(text):
        log.append(TOPIC, good(number) if letter == "g" else GARBAGE, partition=partition)


def promising(on_breach: str = "ALERT", **level: Any) -> Any:
    return contract(level=StreamLevel(**level), on_breach=on_breach)


def levels_log(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(record)["protocontract"] for record in caplog.records if "protocontract" in vars(record)]


# -- ALERT


def test_a_missed_level_is_told_once_and_again_when_it_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    log, clock = new_log(), Clock()
    runs = Runs(log, contract=promising(compliance=0.9, window=60), clock=clock)
    with caplog.at_level(logging.INFO, "protocontract.kafka"), runs.guard:
        stream(log, "gggggggggbbb")
        runs.until_idle()
        clock.now += 120
        stream(log, "g" * 20)
        runs.until_idle()
        clock.now += 2
        runs.until_idle()
    turns = levels_log(caplog)
    assert [(turn["level"], turn["state"], turn["halts"]) for turn in turns] == [
        ("compliance", "missed", False),
        ("compliance", "kept", False),
    ]
    # Told with the eleventh record: the second bad one, when 9 of 11 are good and the tenth left 9 of 10.
    assert (turns[0]["records"], turns[0]["promised"]) == (11, 0.9)
    assert len(runs.seen) == 29
    assert len(log.records(DEAD)) == 3
    assert committed(log) == 32
    (breach,) = runs.breaches
    assert (breach.level, breach.halts) == ("compliance", False)
    assert breach.reason == "compliance 81.81 %, promised 90.00 %"
    assert runs.guard.halted is None


def test_levels_are_seen_while_the_guard_runs() -> None:
    log, clock = new_log(), Clock()
    runs = Runs(log, contract=promising(compliance=0.5, error_rate=0.5, minimum_records=4), clock=clock)
    stream(log, "gggb")
    with runs.guard:
        runs.until_idle()
        (verdicts,) = runs.guard.levels.values()
    assert [(verdict.level, verdict.state, verdict.measured) for verdict in verdicts] == [
        ("compliance", "kept", 0.75),
        ("error_rate", "kept", 0.25),
    ]


def test_latency_counts_from_the_records_timestamp_where_no_field_is_named() -> None:
    log, clock = new_log(), Clock()
    runs = Runs(log, contract=promising(latency=300, minimum_records=1), clock=clock)
    log.append(TOPIC, good(1), timestamp_ms=int((clock.now - 10) * 1000))
    log.append(TOPIC, good(2), timestamp_ms=int((clock.now - 301) * 1000))
    with runs.guard:
        runs.until_idle()
    (breach,) = runs.breaches
    assert breach.reason == "latency 301 s, promised 300 s"
    (watch,) = runs.guard._halting.watches
    assert watch.measured_from == "CreateTime"


@pytest.mark.parametrize(("log_append_time", "kind"), [(False, "CreateTime"), (True, "LogAppendTime")])
def test_k80_the_clock_of_latency_is_told(log_append_time: bool, kind: str) -> None:
    clock = Clock()
    log = MemoryLog(clock=clock)
    log.create_topic(TOPIC, log_append_time=log_append_time)
    log.create_topic(DEAD)
    runs = Runs(log, contract=promising(latency=60, minimum_records=1), clock=clock)
    log.append(TOPIC, good(1), timestamp_ms=0)
    with runs.guard:
        runs.until_idle()
    (watch,) = runs.guard._halting.watches
    assert watch.measured_from == kind
    # Only the producer's clock says that the record is old.
    assert len(runs.breaches) == (not log_append_time)
    assert len(runs.seen) == 1


def test_k82_delays_are_told_apart() -> None:
    clock = Clock()
    # The contract's event time: here the amount, in seconds since 1970.
    made = contract(level=StreamLevel(latency=60, minimum_records=1), event_time="amount")
    log = new_log()
    log.append(TOPIC, good(int(clock.now)), timestamp_ms=int(clock.now * 1000) + 3_000)
    clock.now += 86_400
    runs = Runs(log, contract=made, clock=clock)
    with pytest.MonkeyPatch.context() as patch, runs.guard:
        # Without the vocabulary's options, nothing says what the number counts.
        patch.setattr("protocontract.levels._epoch_unit", lambda *_: 1.0)
        runs.until_idle()
    (watch,) = runs.guard._halting.watches
    assert watch.measured_from == "amount"
    assert (watch.producer_delay, watch.consumer_delay) == (2.0, 86_397.0)
    assert len(runs.seen) == 1
    assert not log.records(DEAD)


def test_silence_is_told_though_no_record_comes() -> None:
    log, clock = new_log(), Clock()
    runs = Runs(log, contract=promising(frequency=60), clock=clock)
    stream(log, "g")

    def later() -> None:
        clock.now += 30

    with runs.guard:
        runs.until_idle(later, polls=5)
    (breach,) = runs.breaches
    assert breach.level == "frequency"


def test_without_partitions_silence_says_nothing() -> None:
    log, clock = new_log(), Clock()
    runs = Runs(log, contract=promising(frequency=60), clock=clock)
    other = log.consumer(TOPIC)

    def later() -> None:
        clock.now += 30

    with runs.guard:
        runs.guard._tick = other.poll
        # The one that joined first has the only partition.
        other.poll()
        runs.until_idle(later, polls=6)
        assert other.assignment() == {P0}
        assert not runs.breaches


def test_what_the_callable_raises_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    log, clock = new_log(), Clock()

    def fail(_breach: Breach) -> None:
        raise RuntimeError("secret")

    guard = new_guard(log, contract=promising(compliance=1.0), clock=clock, on_breach=fail)
    stream(log, "gbg")
    with guard:
        assert len(list(guard)) == 2
    assert "on_breach failed (RuntimeError)" in caplog.text
    assert "secret" not in caplog.text


# -- HALT


def halting(**options: Any) -> dict[str, Any]:
    return {"contract": promising("HALT", compliance=0.9, window=60), "clock": Clock(), **options}


def test_a_halt_stops_before_the_record_and_stays_in_the_group() -> None:
    log = new_log()
    runs = Runs(log, **halting())
    stream(log, "gggggggggbbg")
    with runs.guard:
        runs.until_idle()
        assert runs.seen == [(0, offset) for offset in range(9)]
        # The record that broke the promise is neither dead-lettered nor committed.
        assert len(log.records(DEAD)) == 1
        assert committed(log) == 10
        assert runs.guard.halted is not None
        assert runs.guard.halted.startswith("payments:0: compliance 81.81 %, promised 90.00 % (since 1970-01-12T")
        assert runs.guard.assignment == {P0}
        assert runs.consumer.paused() == {P0}
        stats = runs.guard.stats
        assert (stats.consumed, stats.judged, stats.open) == (10, 10, 0)
    metadata = log.committed_metadata("group", P0)
    assert json.loads(metadata)["reason"] == "compliance 81.81 %, promised 90.00 %"
    assert [breach.halts for breach in runs.breaches] == [True]


def test_a_halt_goes_on_where_it_stopped() -> None:
    log = new_log()
    runs = Runs(log, **halting())
    stream(log, "gggggggggbbg")
    with runs.guard:
        runs.until_idle()
        runs.guard.resume_levels("producer rolled back")
        assert runs.guard.halted is None
        runs.until_idle()
        assert runs.seen[-1] == (0, 11)
        assert len(log.records(DEAD)) == 2
    assert committed(log) == 12
    assert log.committed_metadata("group", P0) == ""


def test_a_halt_survives_a_restart() -> None:
    log = new_log()
    stream(log, "gggggggggbbg")
    first = Runs(log, **halting())
    with first.guard:
        first.until_idle()
    again = Runs(log, **halting())
    with again.guard:
        again.until_idle()
        assert again.seen == []
        assert again.guard.halted is not None
        assert "compliance 81.81 %" in again.guard.halted
        assert committed(log) == 10
        assert log.committed_metadata("group", P0) != ""
        again.guard.resume_levels()
        again.until_idle()
        assert again.seen == [(0, 11)]
    assert log.committed_metadata("group", P0) == ""
    third = Runs(log, **halting())
    with third.guard:
        third.until_idle()
        assert third.guard.halted is None


def test_a_halt_goes_with_the_partition_to_its_next_owner() -> None:
    log = new_log()
    stream(log, "gggggggggbbg")
    first, second = Runs(log, **halting()), Runs(log, **halting())
    with second.guard:
        with first.guard:
            first.until_idle()
            assert first.guard.halted is not None
        second.until_idle()
        assert second.guard.halted is not None
        assert second.seen == []


def test_a_halted_partition_stays_halted_through_a_rebalance() -> None:
    log = new_log()
    stream(log, "gggggggggbbg")
    runs = Runs(log, **halting())
    with runs.guard:
        runs.until_idle()
        log.rebalance("group")
        runs.until_idle()
        assert runs.guard.halted is not None
        log.evict(runs.consumer)
        runs.until_idle()
        assert runs.guard.halted is not None
        assert runs.seen == [(0, offset) for offset in range(9)]
        runs.guard.resume_levels()
        runs.until_idle()
        assert runs.seen[-1] == (0, 11)


def test_a_halt_that_could_not_be_committed_is_committed_later(monkeypatch: pytest.MonkeyPatch) -> None:
    from protocontract.kafka import client

    log = new_log()
    stream(log, "gggggggggbbg")
    runs = Runs(log, **halting())
    at_once = runs.consumer.commit

    def no_answer(*_arguments: Any, **_named: Any) -> None:
        monkeypatch.setattr(runs.consumer, "commit", at_once)
        runs.consumer.fail_commits = [client.errors.KafkaTimeoutError("no answer")] * 2
        raise client.errors.KafkaTimeoutError("no answer")

    runs.guard._halting._on_breach = lambda _breach: monkeypatch.setattr(runs.consumer, "commit", no_answer)
    with runs.guard:
        runs.until_idle(polls=5)
        assert runs.guard.stats.commit_errors == 3
        assert halted_by(log.committed_metadata("group", P0))


def test_a_member_that_is_out_of_the_group_when_it_halts_judges_anew() -> None:
    log = new_log()
    stream(log, "gggggggggbbg")
    runs = Runs(log, **halting())
    written: list[str] = []

    def evicted(_breach: Breach) -> None:
        if not written:
            log.evict(runs.consumer)
        written.append(log.committed_metadata("group", P0))

    runs.guard._halting._on_breach = evicted
    with runs.guard:
        runs.until_idle()
        stats = runs.guard.stats
        # The first time others may have had the partition already, so nothing was written for it.
        assert (written, stats.losses) == (["", ""], 1)
        assert runs.guard.halted is not None
        assert halted_by(log.committed_metadata("group", P0))
        assert (stats.open, stats.consumed) == (0, stats.delivered + stats.dead_lettered)


def test_a_partition_whose_halt_cannot_be_read_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    from protocontract.kafka import client

    log = new_log()
    stream(log, "ggg")
    runs = Runs(log, **halting())
    found = runs.consumer.committed
    answers = [client.errors.KafkaTimeoutError("no answer"), None]

    def committed_later(*arguments: Any, **named: Any) -> Any:
        error = answers.pop(0) if answers else None
        if error is not None:
            assert not runs.seen
            raise error
        return found(*arguments, **named)

    monkeypatch.setattr(runs.consumer, "committed", committed_later)
    with runs.guard:
        runs.until_idle()
    assert len(runs.seen) == 3


def test_a_users_pause_and_a_halt_do_not_end_each_other() -> None:
    log = new_log()
    stream(log, "gggggggggbbg")
    runs = Runs(log, **halting())
    with runs.guard:
        runs.until_idle()
        runs.guard.pause(P0)
        runs.guard.resume_levels()
        runs.until_idle()
        assert len(runs.seen) == 9
        runs.guard.resume(P0)
        runs.until_idle()
        assert runs.seen[-1] == (0, 11)


def test_nothing_is_asked_or_written_where_nothing_halts() -> None:
    log = new_log()
    stream(log, "gb")
    runs = Runs(log, contract=promising(compliance=0.1), clock=Clock())
    assert runs.guard._halting.parse is None
    with runs.guard:
        runs.until_idle()
    assert log.committed_metadata("group", P0) == ""
    unused = new_guard(new_log())
    with unused:
        assert unused._halting.observer(next(iter(unused._source.partitions.values()), _partition())) is None


def _partition() -> Any:
    from protocontract.kafka.partition import Partition
    from protocontract.kafka.stats import PartitionStats

    return Partition(P0, PartitionStats())


# -- the breaker


def test_k77_the_breaker_is_its_partitions_own() -> None:
    log = new_log(2)
    runs = Runs(log, breaker={"consecutive": 5}, clock=Clock())
    stream(log, "gbbbbg" + "b" * 50, partition=0)
    stream(log, "g" * 30, partition=1)
    with runs.guard:
        runs.until_idle()
        assert len(log.records(DEAD)) == 8
        assert committed(log) == 10
        assert committed(log, 1) == 30
        assert runs.guard.halted is not None
        assert runs.guard.halted.startswith("payments:0: breaker: 5 bad records in a row")
        (breach,) = runs.breaches
        assert (breach.level, breach.partition) == ("breaker", P0)
        stream(log, "g", partition=1)
        runs.until_idle()
        assert runs.seen[-1] == (1, 30)


def test_k75_a_restart_does_not_close_the_breaker() -> None:
    log = new_log()
    stream(log, "gb" * 200)
    for _ in range(3):
        runs = Runs(log, breaker={"ratio": 0.5, "records": 20}, clock=Clock())
        with runs.guard:
            runs.until_idle()
            assert runs.guard.halted is not None
    assert len(log.records(DEAD)) == 9
    assert committed(log) == 19


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({}, "give a ratio"),
        ({"ratio": 0}, "ratio must be"),
        ({"ratio": 1.1}, "ratio must be"),
        ({"consecutive": 0}, "consecutive must be"),
        ({"ratio": 0.5, "records": 2.5}, "records must be"),
        ({"ratios": 0.5}, "got ratios"),
    ],
)
def test_a_breaker_without_sense_is_refused(limits: dict[str, Any], said: str) -> None:
    with pytest.raises(GuardError, match=said):
        new_guard(new_log(), breaker=limits)


# -- the metadata


def test_the_metadata_fit_the_brokers_limit_and_others_are_not_taken_for_ours() -> None:
    longest = halt_metadata("c" * 500, "\x00" * 5_000, 0.0)
    assert len(longest.encode()) <= 4_096
    assert halted_by(longest)
    for foreign in ("", "protocontract.halt", '["protocontract.halt"]', '{"kind": "x", "protocontract.halt": 1}'):
        assert halted_by(foreign) == ""


# -- the process, on a real broker


@pytest.mark.kafka
def test_a_halt_survives_a_restart_of_the_process(broker: Any, group: str, capsys: Any) -> None:
    source, sink, dead = broker.topic("raw"), broker.topic("clean"), broker.topic("dead", max_message_bytes="2000000")
    producer = broker.producer()
    made = [make(random.Random(number), None) for number in range(5)]
    for each in (*made, *[make(random.Random(9), "garbage")] * 30, *made):
        producer.send(source, each.value, key=each.key)
    producer.flush()
    producer.close()
    where = ["--bootstrap-servers", broker.servers]
    named = [*where, "--source", source, "--group", group]
    command = [
        "guard",
        *named,
        "--contract",
        FINANCE,
        "--proto-path",
        str(PROTOS),
        "--sink",
        sink,
        "--dead-letter",
        dead,
        "--allow-retention",
        "--breaker-consecutive",
        "3",
    ]

    def here(*arguments: str) -> tuple[int, str]:
        code = cli.main(["guard", *arguments])
        return code, "".join(capsys.readouterr())

    def process_of(*arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "protocontract.cli", *arguments],
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    code, said = process_of(*command, "--halt", "exit")
    assert code == 1, said
    assert f"halted: {source}:0: breaker: 3 bad records in a row" in said
    assert broker.committed(source, group) == {0: 7}
    # The next process finds the halt beside the committed offset: it passes nothing on and stays.
    port = str(free_ports(1)[0])
    process = subprocess.Popen(
        [sys.executable, "-m", "protocontract.cli", *command, "--http", port],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120
        while (found := _get(port, "/readyz")) != 503 or "halted" not in _get_text(port, "/readyz"):
            assert time.monotonic() < deadline, found
            time.sleep(0.2)
        assert _get(port, "/livez") == 200
        assert "data_contract_halted 1.0" in _get_text(port, "/metrics")
        code, said = here("status", *named)
        assert code == 1, said
        assert "committed 7" in said
        assert "halted: breaker: 3 bad records in a row" in said
        code, said = here("resume", *named, "--reason", "rolled back")
        assert code == 2
        assert "has running members" in said
    finally:
        process.terminate()
        assert process.wait(120) == 0
    assert len(broker.read(sink)) == 5
    assert len(broker.read(dead)) == 2
    code, said = here("resume", *named, "--reason", "rolled back")
    assert code == 0, said
    # It goes on with the record before which it stopped, and stops again two further on.
    assert process_of(*command, "--halt", "exit")[0] == 1
    assert broker.committed(source, group) == {0: 9}


def _get(port: str, path: str) -> int:
    try:
        with _OPENER.open(f"http://127.0.0.1:{port}{path}", timeout=120) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def _get_text(port: str, path: str) -> str:
    try:
        with _OPENER.open(f"http://127.0.0.1:{port}{path}", timeout=120) as answer:
            return str(answer.read().decode())
    except urllib.error.HTTPError as error:
        with error:
            return error.read().decode()


_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
