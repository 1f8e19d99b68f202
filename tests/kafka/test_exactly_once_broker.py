"""Exactly once on a real broker: processes that are killed, stopped, and come back."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kafka.conftest import Broker
from tests.kafka.test_broker import KEEPS_ALL, guard_process, wait_until
from tests.kafka.transactions import Made, stream
from tests.support.processes import stop_here


class Flow:
    """Topics with a dirty stream, and processes that guard it exactly once."""

    def __init__(self, broker: Broker, folder: Path, records: list[Made]) -> None:
        self.broker = broker
        self.count = len(records)
        self.source, self.sink = broker.topic("raw", 4), broker.topic("clean", 4)
        self.dead = broker.topic("dead", 1, **KEEPS_ALL)
        self.group = f"g-{self.source}"
        self.records = records
        producer = broker.producer(linger_ms=5)
        for number, made in enumerate(self.records):
            producer.send(self.source, made.value, key=made.key, headers=[("n", b"%d" % number)])
        producer.flush()
        producer.close()
        self.config = folder / "client.toml"
        self.config.write_text(
            "session_timeout_ms = 3000\nheartbeat_interval_ms = 500\nmax_partition_fetch_bytes = 30000\n"
        )
        self.processes: list[subprocess.Popen[str]] = []

    def start(self, *more: str) -> subprocess.Popen[str]:
        return self.begin("--exit-at-end", *more)

    def begin(self, *more: str) -> subprocess.Popen[str]:
        process = guard_process(
            self.broker,
            self.source,
            self.sink,
            self.dead,
            "--exactly-once",
            "--group",
            self.group,
            "--client-config",
            str(self.config),
            "--format",
            "json",
            *more,
        )
        self.processes.append(process)
        return process

    def committed(self) -> int:
        return sum(offset or 0 for offset in self.broker.committed(self.source, self.group).values())

    def wait_for(self, committed: int) -> None:
        """Wait until so many records are committed, while the process started last is there."""

        def enough() -> bool:
            process = self.processes[-1]
            assert process.poll() is None, process.communicate()
            return self.committed() > committed

        wait_until(enough)

    def numbers(self, topic: str, level: str = "read_committed") -> list[tuple[int, int]]:
        """Partition and number of each record."""
        return [
            (record.partition, int(dict(record.headers)["n"]))
            for record in self.broker.read(topic, isolation_level=level)
        ]

    def check(self) -> None:
        """A reader of committed records sees each good record and each dead letter once, in order."""
        # Nothing above a transaction that is open is shown, and one whose process was killed is open for a while yet.
        wait_until(
            lambda: all(
                self.broker.ends(topic, "read_committed") == self.broker.ends(topic) for topic in (self.sink, self.dead)
            )
        )
        sink = self.numbers(self.sink)
        for partition in range(4):
            numbers = [number for where, number in sink if where == partition]
            assert numbers == sorted(numbers)
        good_ones = [number for number, made in enumerate(self.records) if made.rule is None]
        assert sorted(number for _, number in sink) == good_ones
        bad_ones = [number for number, made in enumerate(self.records) if made.rule is not None]
        assert sorted(number for _, number in self.numbers(self.dead)) == bad_ones
        assert self.broker.committed(self.source, self.group) == self.broker.ends(self.source)

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.fixture
def flow(broker: Broker, tmp_path: Path) -> Iterator[Flow]:
    made = Flow(broker, tmp_path, stream(6_000, seed=11))
    yield made
    made.close()


@pytest.mark.kafka
@pytest.mark.parametrize("more", [(), ("--instance", "one")])
def test_a_process_that_is_killed_leaves_nothing_twice(flow: Flow, more: tuple[str, ...]) -> None:
    for kill in range(2 if more else 1):
        process = flow.start(*more)
        flow.wait_for(1_000 * (kill + 1))
        process.kill()
        process.communicate()
        assert flow.committed() < flow.count, "it was done before it could be killed"
    process = flow.start(*more)
    out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    assert 0 < json.loads(out)["consumed"] < flow.count
    flow.check()


@pytest.mark.kafka
def test_a_zombie_is_fenced(flow: Flow) -> None:
    zombie = flow.start()
    flow.wait_for(1_500)
    stop_here(zombie.pid)
    before = flow.committed()
    assert before < flow.count
    other = flow.start()
    # Its session times out, then (at most) its open transaction: the other goes on from there.
    flow.wait_for(before + 500)
    zombie.send_signal(signal.SIGCONT)
    reports = []
    for process in (other, zombie):
        out, err = process.communicate(timeout=180)
        assert process.returncode == 0, err
        reports.append((json.loads(out), err))
    flow.check()
    (other_report, _), (zombie_report, zombie_says) = reports
    # What was committed is counted once, by the one that committed it.
    assert other_report["consumed"] + zombie_report["consumed"] == flow.count
    assert zombie_report["losses"] or zombie_report["revocations"] or "changed hands" in zombie_says


@pytest.mark.kafka
def test_the_older_of_two_with_one_name_ends(flow: Flow) -> None:
    older = flow.start("--instance", "one")
    flow.wait_for(1_000)
    stop_here(older.pid)
    before = flow.committed()
    assert before < flow.count
    newer = flow.start("--instance", "one")
    wait_until(lambda: flow.committed() > before)
    older.send_signal(signal.SIGCONT)
    _, err = older.communicate(timeout=180)
    assert older.returncode == 1, err
    # The transaction tells of it, or the poll.
    assert "another process uses this --instance" in err or "FencedInstanceIdError" in err
    _, said = newer.communicate(timeout=180)
    assert newer.returncode == 0, (said, err)
    flow.check()


@pytest.mark.kafka
def test_sigterm_ends_it_within_the_grace_period(flow: Flow) -> None:
    process = flow.start("--grace", "5")
    flow.wait_for(500)
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert time.monotonic() - started < 60
    # Nothing is left open: what a reader of everything sees is committed too.
    assert len(flow.numbers(flow.sink)) == len(flow.numbers(flow.sink, "read_uncommitted"))
