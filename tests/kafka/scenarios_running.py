"""The scenarios of groups, logs, control, handlers and replay: K44 and on. ``test_scenarios`` runs them."""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

import pytest

from protocontract.kafka import GuardError, SourceError
from protocontract.kafka.client import TopicPartition, errors
from protocontract.kafka.memory import SendFault
from tests.kafka.scenario_table import offsets, scenario, until
from tests.kafka.support import (
    BAD,
    DEAD,
    GARBAGE,
    TOPIC,
    committed,
    contract,
    dead_headers,
    drain,
    good,
    new_guard,
    new_log,
    stopped,
)


@scenario
def k44() -> None:
    log = new_log()
    for number in range(100):
        log.append(TOPIC, GARBAGE if number == 60 else good(number))
    first = new_guard(log, log.consumer(TOPIC), stop_at_end=False)
    with stopped(first) as records:
        seen = offsets([next(records) for _ in range(41)])
        rival = log.consumer(TOPIC)
        # The rival takes the topic's only partition for itself.
        first._consumer._topics = {"elsewhere"}  # type: ignore[attr-defined]
        rival.poll(0)
        for _ in range(2):
            first._source.keep_alive()
            rival.poll(0)
        assert first.assignment == set()
        assert log.committed("group", TopicPartition(TOPIC, 0)) == 40
        assert first.stats.revocations >= 1
        first._consumer.on_idle = first.stop  # type: ignore[attr-defined]
        assert list(records) == []
    rival.close()
    assert not log.records(DEAD)
    seen += offsets(drain(new_guard(log)))
    assert sorted(set(seen)) == [number for number in range(100) if number != 60]


@scenario
def k46() -> None:
    log = new_log()
    for number in range(20):
        log.append(TOPIC, good(number))
    guard = new_guard(log, stop_at_end=False)
    with stopped(guard) as records:
        for _ in range(5):
            next(records)
        before = len(log.commits)
        log.evict(guard._consumer)  # type: ignore[arg-type]
        assert not guard._source.still_member()
        assert guard._source.buffered == 0
        assert len(log.commits) == before


@scenario
def k47() -> None:
    log = new_log(3)
    for number in range(9):
        log.append(TOPIC, GARBAGE if number == 4 else good(number), partition=number % 3)
    assert len(drain(new_guard(log))) == 8
    assert [committed(log, partition) for partition in range(3)] == [3, 3, 3]


@scenario
def k51() -> None:
    log = new_log()
    with pytest.raises(GuardError, match="enable_auto_commit"):
        new_guard(log, log.consumer(TOPIC, enable_auto_commit=True))


@scenario
def k53() -> None:
    log = new_log()
    for number in range(3):
        log.append(TOPIC, good(number))
    log.append_marker(TOPIC)
    guard = new_guard(log, close_consumer=False)
    assert offsets(drain(guard)) == [0, 1, 2]
    assert (committed(log), guard.lag, log.records(DEAD)) == (4, 0, [])


@scenario
def k55() -> None:
    log = new_log()
    for number in range(10):
        log.append(TOPIC, good(number))
    log.compact(TopicPartition(TOPIC, 0), [0, 3, 6, 7, 8])
    assert offsets(drain(new_guard(log))) == [1, 2, 4, 5, 9]
    assert committed(log) == 10


@scenario
def k56() -> None:
    log = new_log()
    for number in range(3):
        log.append(TOPIC, good(number))
    with new_guard(log) as guard:
        source = guard._deliverable()
        taken = [next(source) for _ in range(3)]
        taken[0].done()
        taken[2].done()
    assert committed(log) == 1


@scenario
def k60() -> None:
    _undecodable(errors.CorruptRecordError("secret"))


@scenario
def k61() -> None:
    _undecodable(errors.UnsupportedCodecError("secret"))


def _undecodable(error: BaseException) -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    guard = new_guard(log, stop_at_end=False)
    with stopped(guard) as records:
        next(records)
        guard._consumer.fail_poll = error  # type: ignore[attr-defined]
        with pytest.raises(SourceError, match=f"{type(error).__name__}.*payments:0 next 1") as caught:
            next(records)
        assert "secret" not in str(caught.value)
    assert (committed(log), log.records(DEAD)) == (1, [])


@scenario
def k63() -> None:
    log = new_log()
    log.append(TOPIC, good(1, note="a" * (50 * 1024 * 1024)))
    assert len(drain(new_guard(log))) == 1
    assert committed(log) == 1


@scenario
def k65() -> None:
    log = new_log()
    for number in range(20):
        log.append(TOPIC, GARBAGE if number == 15 else good(number))
    guard = new_guard(log, stop_at_end=False)
    with stopped(guard) as records:
        taken = [next(records) for _ in range(11)]
        taken[-1].done()
        guard.pause(TopicPartition(TOPIC, 0))
        guard._consumer.on_idle = guard.stop  # type: ignore[attr-defined]
        assert list(guard) == []
        assert (committed(log), log.records(DEAD)) == (11, [])
        guard._consumer.on_idle = None  # type: ignore[attr-defined]
        guard._stopping = False
        guard.resume(TopicPartition(TOPIC, 0))
        assert next(iter(guard)).offset == 11


@scenario
def k66() -> None:
    log = new_log()
    for number in range(200):
        log.append(TOPIC, GARBAGE if number == 120 else good(number))
    guard = new_guard(log)
    with stopped(guard) as records:
        for record in records:
            if record.offset == 149:
                break
        guard.seek(TopicPartition(TOPIC, 0), 100)
        assert [record.offset for record in guard] == [n for n in range(100, 200) if n != 120]
    positions = [dead_headers(record)["protocontract.offset"] for record in log.records(DEAD)]
    assert positions == [b"120", b"120"]
    assert committed(log) == 200


@scenario
def k69() -> None:
    log = new_log()
    for number in range(5):
        log.append(TOPIC, GARBAGE if number == 1 else good(number))
    log.on_send = lambda topic, value: SendFault("hold")
    guard = new_guard(log, grace=5.0)
    handled: list[int] = []
    with guard:
        for record in guard:
            handled.append(record.offset)
            if record.offset == 2:
                guard.stop()
                threading.Timer(0.1, log.release).start()
    assert handled == [0, 2]
    assert (guard.unacknowledged, committed(log)) == (0, 3)
    assert guard._consumer.closed  # type: ignore[attr-defined]


@scenario
def k70() -> None:
    log = new_log()
    log.append(TOPIC, good(0))
    log.append(TOPIC, GARBAGE)
    log.on_send = lambda topic, value: SendFault("fail")
    guard = new_guard(log, stop_at_end=False, grace=0.2)
    thread = threading.Thread(target=lambda: list(guard))
    with guard:
        thread.start()
        until(lambda: guard.blocked is not None)
        started = time.monotonic()
        guard.stop()
        thread.join(120)
    assert time.monotonic() - started < 60
    # What the process turns into exit code 1.
    assert (guard.unacknowledged, guard.stats.dead_lettered, committed(log)) == (1, 0, 1)


@scenario
def k73() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    calls: list[float] = []

    def down(_message: Any) -> None:
        calls.append(time.monotonic())
        raise ConnectionError

    with pytest.raises(ConnectionError), new_guard(log) as guard:
        guard.run(down, retries=4, backoff=(0.01, 0.04))
    pauses = [later - earlier for earlier, later in itertools.pairwise(calls)]
    assert len(calls) == 5
    assert pauses[-1] > pauses[0]
    assert (committed(log), log.records(DEAD)) == (None, [])


@scenario
def k83() -> None:
    log = new_log()
    for number in range(100):
        log.append(TOPIC, GARBAGE if number % 2 else BAD)
    drain(new_guard(log))
    for dead in log.records(DEAD):
        # The rules were corrected for half of them.
        value = good(1) if dead.value == BAD else dead.value
        log.append(TOPIC, value, headers=dead.headers)
    records = drain(new_guard(log))
    assert len(records) == 50
    assert {record.id.offset for record in records} == set(range(0, 100, 2))
    second = [dead_headers(record) for record in log.records(DEAD)[100:]]
    assert {headers["protocontract.attempt"] for headers in second} == {b"2"}
    assert {int(headers["protocontract.offset"]) for headers in second} == set(range(1, 100, 2))


@scenario
def k84() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE, key=b"k", timestamp_ms=5)
    log.append(TOPIC, good(1), key=b"k")
    drain(new_guard(log))
    log.append(TOPIC, good(2), key=b"k", headers=log.records(DEAD)[0].headers)
    (record,) = drain(new_guard(log))
    assert (record.id.offset, record.offset) == (0, 2)
    assert dict(record.headers)["protocontract.timestamp"] == b"5"


@scenario
def k87() -> None:
    log = new_log(3)
    for number in range(300):
        value = None if number % 11 == 0 else GARBAGE if number % 7 == 0 else good(number)
        log.append(TOPIC, value, key=b"k", partition=number % 3)
    guard = new_guard(log, contract=contract())
    for record in guard:
        if record.offset % 10 == 0:
            record.reject("no")
    guard.close()
    assert guard.stats.consumed == 300
    for counts in guard.stats.partitions.values():
        assert counts.consumed == 100
        assert counts.consumed == counts.delivered + counts.dead_lettered + counts.tombstones + counts.skipped
    assert guard.stats.dead_lettered == len(log.records(DEAD))
