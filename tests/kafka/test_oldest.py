"""The oldest dead letter that nobody has resolved: for metrics, off the guard's thread."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from protocontract import metrics
from protocontract.cli import UsageError
from protocontract.cli import main as cli_main
from protocontract.kafka import client
from protocontract.kafka.client import TopicPartition, offset_to_commit
from protocontract.kafka.connection import Cluster
from protocontract.kafka.errors import SourceError
from protocontract.kafka.http import Health
from protocontract.kafka.letters.oldest import Looked, Oldest, OldestWatch, look, oldest_unresolved, replay_group
from protocontract.kafka.memory import MemoryLog
from tests.kafka.conftest import Broker
from tests.kafka.support import DEAD, GARBAGE, new_guard, new_log
from tests.kafka.test_metrics import ask, documented, exported, scraped
from tests.kafka.test_replay import DEAD_GROUP, log_with, replay

NOW = 1_700_000_000.0


def dead_log(*seconds: tuple[int, int]) -> MemoryLog:
    """Dead letters by partition and age in seconds."""
    log = MemoryLog()
    log.create_topic(DEAD, 2)
    for partition, age in seconds:
        log.append(DEAD, GARBAGE, partition=partition, timestamp_ms=int((NOW - age) * 1000))
    return log


def resolve(log: MemoryLog, partition: int, offset: int) -> None:
    consumer = log.consumer(group_id=DEAD_GROUP)
    tp = TopicPartition(DEAD, partition)
    consumer.assign([tp])
    consumer.commit({tp: offset_to_commit(offset)})
    consumer.close(autocommit=False)


def oldest(log: MemoryLog) -> Oldest | None:
    return oldest_unresolved(log.consumer(group_id=DEAD_GROUP), DEAD)


def test_the_group_is_that_of_replays() -> None:
    assert replay_group(DEAD) == DEAD_GROUP


def test_an_empty_topic_has_none() -> None:
    assert oldest(dead_log()) is None


def test_the_oldest_of_all_partitions() -> None:
    log = dead_log((0, 50), (0, 40), (1, 90), (1, 10))
    assert oldest(log) == Oldest("1:0", NOW - 90)
    resolve(log, 1, 1)
    assert oldest(log) == Oldest("0:0", NOW - 50)
    resolve(log, 0, 2)
    assert oldest(log) == Oldest("1:1", NOW - 10)
    resolve(log, 1, 2)
    assert oldest(log) is None
    # Nothing was committed by looking.
    assert log.committed(DEAD_GROUP, TopicPartition(DEAD, 0)) == 2


def test_a_replay_resolves(tmp_path: Path) -> None:
    log = log_with([GARBAGE, b"\xff"])
    assert oldest(log) is not None
    replay(log, tmp_path)
    assert oldest(log) is None


def test_a_topic_that_is_not_there() -> None:
    with pytest.raises(SourceError, match=f"{DEAD} does not exist"):
        oldest(MemoryLog())


# -- metrics


def watch_of(looked: Looked | None) -> OldestWatch:
    watch = OldestWatch(lambda: pytest.fail("nobody looks"), 60)
    watch.looked = looked
    return watch


@pytest.mark.parametrize(
    ("looked", "age", "left"),
    [
        (None, {}, {}),
        (Looked(DEAD, None, 600.0), {(DEAD,): 0}, {}),
        (Looked(DEAD, Oldest("0:0", NOW - 100), 600.0), {(DEAD,): 100}, {(DEAD,): 500}),
        (Looked(DEAD, Oldest("0:0", NOW - 700), 600.0), {(DEAD,): 700}, {(DEAD,): -100}),
        (Looked(DEAD, Oldest("0:0", NOW - 100), None), {(DEAD,): 100}, {}),
    ],
)
def test_what_is_exported(looked: Looked | None, age: dict[Any, float], left: dict[Any, float]) -> None:
    guard = new_guard(new_log())
    seen = scraped(metrics.GuardCollector(guard, dead_letters=watch_of(looked), clock=lambda: NOW))
    assert seen.get("dead_letter_oldest_unresolved_age_seconds", {}) == age
    assert seen.get("dead_letter_oldest_unresolved_retention_seconds", {}) == left


def test_it_is_documented() -> None:
    names = {name for name in documented() if name.startswith("dead_letter_oldest")}
    assert len(names) == 2
    seen = exported(new_guard(new_log()), dead_letters=watch_of(Looked(DEAD, Oldest("0:0", NOW), 600.0)))
    assert {name: seen[name] for name in names} == {name: documented()[name] for name in names}
    assert not names & exported(new_guard(new_log())).keys()


def test_a_look_that_fails_is_no_figure_and_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    answers: list[Any] = [
        SourceError("topic payments.dead cannot be read"),
        Looked(DEAD, None, None),
        UsageError("refused"),
        RuntimeError("a value"),
    ]

    def once() -> Looked:
        found = answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    watch = OldestWatch(once, 60)
    seen = []
    for _ in range(4):
        watch.look()
        seen.append(watch.looked)
    assert seen == [None, Looked(DEAD, None, None), None, None]
    assert "the oldest dead letter is not known (RuntimeError)" in caplog.text
    assert "a value" not in caplog.text


def test_it_runs_beside_the_probes() -> None:
    watch = OldestWatch(lambda: Looked(DEAD, Oldest("0:3", time.time() - 60), None), 0.01)
    health = Health(new_guard(new_log()), 0, dead_letters=watch)
    try:
        # The first look is at once, so that it is over soon whatever the pause.
        deadline = time.monotonic() + 120
        while watch.looked is None and time.monotonic() < deadline:
            watch._over.wait(0.01)
        assert f'dead_letter_oldest_unresolved_age_seconds{{topic="{DEAD}"}} 6' in ask(health, "/metrics")[1]
    finally:
        health.close()
    watch._thread.join(120)
    assert not watch._thread.is_alive()


def test_it_is_for_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["guard", "--contract", "acme.finance.v1.Transaction", "--proto-path", "contracts", "--source", "a"]
    more = ["--sink", "b", "--bootstrap-servers", "127.0.0.1:1", "--watch-dead-letters", "60"]
    assert cli_main([*arguments, *more]) == 2
    assert "--watch-dead-letters is for /metrics; add --http PORT" in capsys.readouterr().err


@pytest.mark.kafka
def test_on_a_real_broker(broker: Broker) -> None:
    dead = broker.topic("dead", 2, retention_ms="3600000")
    config = {"bootstrap_servers": [broker.servers]}
    assert look(Cluster(config), dead) == Looked(dead, None, 3600.0)
    producer = client.producer_factory(config)()
    before = time.time() - 100
    for partition, age in ((0, 0), (0, 1), (1, 50)):
        producer.send(dead, GARBAGE, partition=partition, timestamp_ms=int((before - age) * 1000))
    producer.flush()
    producer.close()
    found = look(Cluster(config), dead).oldest
    assert found is not None
    assert (found.position, round(found.written - before)) == ("1:0", -50)
    with Cluster(config).reader(replay_group(dead)) as consumer:
        tp = TopicPartition(dead, 1)
        consumer.assign([tp])
        consumer.commit({tp: offset_to_commit(1)})
    found = look(Cluster(config), dead).oldest
    assert found is not None
    assert found.position == "0:0"
