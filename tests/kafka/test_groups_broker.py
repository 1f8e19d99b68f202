"""Members that come, go, are thrown out and come back, on a real broker."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import confluent_kafka
import pytest

from protocontract.kafka import Guard, SourceError
from protocontract.kafka.client import TopicPartition
from tests.kafka.conftest import Broker
from tests.kafka.support import CONTRACT, GARBAGE, dead_headers, good
from tests.kafka.test_broker import ROOT, check_dead_letters, read_notes, wait_until, write
from tests.kafka.transactions import stream
from tests.support.processes import stop_here

pytestmark = pytest.mark.kafka

QUICK = {"session_timeout_ms": 3_000, "heartbeat_interval_ms": 300}


def fill(broker: Broker, partitions: int, count: int) -> str:
    """A topic of good records, every tenth bad, the partitions in turn."""
    source = broker.topic("pay", partitions)
    producer = broker.producer()
    for number in range(count):
        producer.send(source, GARBAGE if number % 10 == 7 else good(number), partition=number % partitions)
    producer.flush()
    producer.close()
    return source


def test_partitions_that_stay(broker: Broker, group: str) -> None:
    """Those that stay with a member through a rebalance go on without a gap, and nothing of them comes twice but what
    was in hand."""
    source, dead = fill(broker, 4, 4_000), broker.topic("pay.dead")
    seen: list[tuple[str, int, int]] = []
    guards: dict[str, Guard[Any]] = {}

    def work(name: str, pause: float) -> None:
        for record in guards[name]:
            seen.append((name, record.partition, record.offset))
            time.sleep(pause)

    for name in ("first", "second"):
        guards[name] = Guard(broker.consumer(source, group, **QUICK), CONTRACT, dead_letter_topic=dead)
    first = threading.Thread(target=work, args=("first", 0.002))
    first.start()
    wait_until(lambda: len(guards["first"].assignment) == 4 and len(seen) > 300)
    second = threading.Thread(target=work, args=("second", 0.0))
    second.start()
    wait_until(lambda: [len(guard.assignment) for guard in guards.values()] == [2, 2])
    stayed = {tp.partition for tp in guards["first"].assignment}
    ends = broker.ends(source)
    wait_until(lambda: broker.committed(source, group) == ends)
    for guard in guards.values():
        guard.stop()
    for thread in (first, second):
        thread.join(120)
    for guard in guards.values():
        guard.close()
    for partition in stayed:
        offsets = [offset for name, where, offset in seen if (name, where) == ("first", partition)]
        # The record in hand at the rebalance may come again.
        assert len(offsets) - len(set(offsets)) <= 1
        assert offsets == sorted(offsets)
        assert set(offsets) == {n for n in range(1_000) if (n * 4 + partition) % 10 != 7}
    assert len({(where, offset) for _, where, offset in seen}) == 3_600
    places = {
        (int(headers["protocontract.partition"]), int(headers["protocontract.offset"]))
        for headers in map(dead_headers, broker.read(dead))
    }
    assert len(places) == 400


def test_a_zombie(broker: Broker, group: str, tmp_path: Path) -> None:
    """A process stopped past its session timeout goes on: it commits nothing of what others have by then."""
    source, dead = broker.topic("tx", 4), broker.topic("tx.dead")
    written = write(broker, source, stream(30_000, seed=12))
    bad = {place for place, made in written.items() if made.rule is not None}
    notes = {name: tmp_path / name for name in ("zombie", "other")}

    def start(name: str, *slow: str) -> subprocess.Popen[bytes]:
        notes[name].touch()
        return subprocess.Popen(
            [
                *(sys.executable, "-W", "ignore", "-m", "tests.kafka.worker"),
                *(broker.servers, source, dead, group, str(notes[name]), *slow),
            ],
            cwd=ROOT,
        )

    go = tmp_path / "go"
    zombie = start("zombie", "3000", str(go))
    wait_until(lambda: len(read_notes(notes["zombie"])) > 3_000)
    stop_here(zombie.pid)
    go.touch()
    before = read_notes(notes["zombie"])
    at_stop = broker.committed(source, group)
    other = start("other")
    # All of it, once the zombie's session has timed out.
    assert other.wait(120) == 0
    assert broker.committed(source, group) == broker.ends(source)
    zombie.send_signal(signal.SIGCONT)
    assert zombie.wait(180) == 0
    assert broker.committed(source, group) == broker.ends(source), "an offset went back"
    delivered = {name: read_notes(path) for name, path in notes.items()}
    assert {place for found in delivered.values() for place in found} == set(written) - bad
    # What the other read again was above what was committed when the zombie was stopped.
    repeated = set(before) & set(delivered["other"])
    assert all(offset >= (at_stop[partition] or 0) for partition, offset in repeated)
    # It asks the group first. What it had noted between the look at its notes and the signal counts here.
    assert len(delivered["zombie"]) - len(before) < 1_000
    assert set(check_dead_letters(broker, dead, group, written)) == bad


def test_a_member_that_was_thrown_out(broker: Broker, group: str) -> None:
    """A handler that takes longer than max_poll_interval_ms loses its partitions: what was fetched is dropped."""
    source, dead = fill(broker, 1, 300), broker.topic("pay.dead")
    consumer = broker.consumer(source, group, **QUICK, max_poll_interval_ms=1_500)
    seen: Counter[int] = Counter()
    with Guard(consumer, CONTRACT, dead_letter_topic=dead, stop_at_end=True) as guard:
        records = iter(guard)
        for _ in range(5):
            seen[next(records).offset] += 1
        before = broker.committed(source, group)
        wait_until(lambda: consumer.group_metadata().generation_id < 0)
        assert not guard._source.still_member()
        assert guard._source.buffered == 0
        assert broker.committed(source, group) == before
        for record in records:
            seen[record.offset] += 1
    assert set(seen) == {number for number in range(300) if number % 10 != 7}
    # The record in hand was not finished, and neither was anything committed after it.
    assert sum(seen.values()) - len(seen) <= 5
    assert guard.stats.losses >= 1


def test_pause_and_resume(broker: Broker, group: str) -> None:
    source, dead = fill(broker, 1, 1_000), broker.topic("pay.dead")
    tp = TopicPartition(source, 0)
    with Guard(broker.consumer(source, group, **QUICK), CONTRACT, dead_letter_topic=dead) as guard:
        records = iter(guard)
        taken = [next(records) for _ in range(6)]
        taken[-1].done()
        guard.pause(tp)
        for _ in range(5):
            guard._source.poll(200)
        assert guard._source.ready() is None
        wait_until(lambda: broker.committed(source, group) == {0: 6})
        assert broker.read(dead) == []
        guard.resume(tp)
        assert [next(records).offset for _ in range(3)] == [6, 8, 9]


def test_a_codec_that_is_missing(broker: Broker, group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # It is installed here, for other tests.
    monkeypatch.setattr("kafka.codec.has_zstd", lambda: False)
    source, dead = broker.topic("pay"), broker.topic("pay.dead")
    for codec in ("gzip", "zstd"):
        writer = confluent_kafka.Producer({"bootstrap.servers": broker.servers, "compression.type": codec})
        for number in range(10):
            writer.produce(source, good(number, note="n"), b"k", partition=0)
        assert writer.flush(30) == 0
    with Guard(broker.consumer(source, group), CONTRACT, dead_letter_topic=dead) as guard:
        records = iter(guard)
        assert [next(records).offset for _ in range(10)] == list(range(10))
        with pytest.raises(SourceError, match=f"UnsupportedCodecError.*{source}:0 next 10"):
            next(records)
    assert broker.committed(source, group) == {0: 10}
    assert broker.read(dead) == []
