"""Against a real broker: the main job, and being killed in the middle of it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from protocontract.kafka import DeadLetterError, Guard, GuardError, client
from tests.kafka.conftest import Broker
from tests.kafka.support import CONTRACT, GARBAGE, contract, dead_headers, good
from tests.kafka.transactions import EIGHT, KINDS, Made, stream, transaction

pytestmark = pytest.mark.kafka

ROOT = Path(__file__).parents[2]
COUNT = 50_000
PARTITIONS = 4


def write(broker: Broker, topic: str, records: list[Made]) -> dict[tuple[int, int], Made]:
    """Produce the records; where each of them lies."""
    producer = broker.producer(linger_ms=5)
    futures = [
        (producer.send(topic, made.value, key=made.key, headers=[("n", b"%d" % number)]), made)
        for number, made in enumerate(records)
    ]
    producer.flush()
    producer.close()
    return {(future.value.partition, future.value.offset): made for future, made in futures}


def check_dead_letters(broker: Broker, dead: str, group: str, written: dict[tuple[int, int], Made]) -> Counter[Any]:
    """Every dead letter is a bad record byte for byte, with why and where from. Returns how often each came."""
    found: Counter[Any] = Counter()
    promised = transaction()
    for record in broker.read(dead):
        headers = dead_headers(record)
        place = (int(headers["protocontract.partition"]), int(headers["protocontract.offset"]))
        made = written[place]
        found[place] += 1
        assert (record.key, record.value) == (made.key, made.value)
        assert record.headers[0][0] == "n"
        assert headers["protocontract.contract"] == promised.full_name.encode()
        assert headers["protocontract.version"] == promised.version.encode()
        assert headers["protocontract.fingerprint"] == promised.fingerprint.encode()
        assert headers["protocontract.group"] == group.encode()
        assert made.rule is not None
        assert made.rule.encode() in headers["protocontract.rule_ids"].split(b",")
        codes = headers["protocontract.error_codes"].split(b",")
        assert len(codes) == int(headers["protocontract.violations"])
        assert all(int(code, 16) for code in codes)
        # The present, not the time of the source: retention would take it at once.
        assert abs(record.timestamp / 1000 - time.time()) < 600
    return found


def test_fifty_thousand_records(broker: Broker, group: str) -> None:
    source, dead = broker.topic("tx", PARTITIONS), broker.topic("tx.dead")
    records = stream(COUNT)
    written = write(broker, source, records)
    bad = {place for place, made in written.items() if made.rule is not None}
    assert len(bad) == COUNT // 20
    assert {made.rule for made in written.values() if made.rule} == {KINDS[kind] for kind in EIGHT}

    delivered: Counter[Any] = Counter()
    last: dict[int, int] = {}
    with Guard(broker.consumer(source, group), transaction(), dead_letter_topic=dead, stop_at_end=True) as guard:
        for record in guard:
            delivered[record.partition, record.offset] += 1
            assert record.offset > last.get(record.partition, -1)
            last[record.partition] = record.offset
            assert record.message is not None
            assert record.message.amount.partition(".")[0].isdigit()

    assert delivered == {place: 1 for place in written if place not in bad}
    assert check_dead_letters(broker, dead, group, written) == dict.fromkeys(bad, 1)
    assert broker.committed(source, group) == broker.ends(source)
    stats = guard.stats
    assert (stats.consumed, stats.delivered, stats.dead_lettered) == (COUNT, COUNT - len(bad), len(bad))
    assert stats.compliance == pytest.approx(0.95)
    for counts in stats.partitions.values():
        assert counts.open == 0


def test_killed_halfway_and_restarted(broker: Broker, group: str, tmp_path: Path) -> None:
    source, dead = broker.topic("tx", PARTITIONS), broker.topic("tx.dead")
    written = write(broker, source, stream(COUNT, seed=8))
    bad = {place for place, made in written.items() if made.rule is not None}
    notes = tmp_path / "delivered"
    notes.touch()
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "tests.kafka.worker",
        broker.servers,
        source,
        dead,
        group,
        str(notes),
    ]

    worker = subprocess.Popen([*command, f"{COUNT // 2}", str(tmp_path / "never")], cwd=ROOT)
    wait_until(lambda: notes.read_bytes().count(b"\n") >= COUNT // 2)
    worker.send_signal(signal.SIGKILL)
    assert worker.wait() == -signal.SIGKILL, "it was done before it could be killed"
    before = read_notes(notes)
    committed = broker.committed(source, group)
    assert subprocess.run(command, cwd=ROOT, timeout=240, check=False).returncode == 0

    delivered = read_notes(notes)
    lost = {place for place in written if place not in bad and place not in delivered}
    assert not lost
    assert not set(delivered) & bad
    dead_letters = check_dead_letters(broker, dead, group, written)
    assert set(dead_letters) == bad
    assert broker.committed(source, group) == broker.ends(source)
    duplicates = {place for place, times in delivered.items() if times > 1}
    # Only what was not committed when the process died comes twice.
    assert all(offset >= (committed[partition] or 0) for partition, offset in duplicates)
    twice = sum(times - 1 for times in dead_letters.values())
    print(
        f"killed after {sum(before.values()):,} of {COUNT - len(bad):,} deliveries: 0 lost, {len(duplicates):,} "
        f"delivered twice, {twice:,} dead-lettered twice"
    )


def read_notes(notes: Path) -> Counter[Any]:
    """Positions in the file of a worker."""
    return Counter(tuple(map(int, line.split())) for line in notes.read_text().splitlines())


def test_two_members_share_and_take_over(broker: Broker, group: str) -> None:
    source, dead = broker.topic("pay", 4), broker.topic("pay.dead")
    producer = broker.producer()
    for number in range(4_000):
        producer.send(source, GARBAGE if number % 10 == 0 else good(number), partition=number % 4)
    producer.flush()
    seen: Counter[Any] = Counter()

    def guard() -> Guard[Any]:
        return Guard(broker.consumer(source, group), CONTRACT, dead_letter_topic=dead)

    def take(records: Any, count: int) -> None:
        for _ in range(count):
            record = next(records)
            seen[record.partition, record.offset] += 1

    with guard() as first:
        ones = iter(first)
        take(ones, 500)
        with guard() as second:
            # Taken at once, with no time to note acknowledgements: what is not noted is read twice after a rebalance.
            while first.unacknowledged:
                first._settle()
                time.sleep(0.01)
            deadline = time.monotonic() + 120
            while len(second.assignment) != 2 and time.monotonic() < deadline:
                # What the two would do on threads of their own: the rejoin needs both.
                threads = [run_in_thread(each._source.keep_alive) for each in (first, second)]
                for thread in threads:
                    thread.join()
            assert len(first.assignment) == len(second.assignment) == 2
            twos = iter(second)
            take(twos, 500)
            take(ones, 500)
        assert second.stats.dead_lettered > 0
    with Guard(broker.consumer(source, group), CONTRACT, dead_letter_topic=dead, stop_at_end=True) as last:
        for record in last:
            seen[record.partition, record.offset] += 1
    assert len(seen) == 3_600
    # Each of the two left with one record in hand; the rebalance itself repeats what was in the first's hand.
    assert sum(seen.values()) - len(seen) <= 3
    places = {
        (dead_headers(r)["protocontract.partition"], dead_headers(r)["protocontract.offset"]) for r in broker.read(dead)
    }
    assert len(places) == 400
    assert broker.committed(source, group) == broker.ends(source)


def run_in_thread(function: Any) -> Any:
    """Start a thread."""
    import threading

    thread = threading.Thread(target=function)
    thread.start()
    return thread


def test_transaction_markers_leave_no_lag(broker: Broker, group: str) -> None:
    source, dead = broker.topic("pay"), broker.topic("pay.dead")
    producer = broker.producer(transactional_id=f"t-{group}")
    producer.init_transactions()
    for values, commit in (([good(1), good(2)], False), ([good(3), good(4), good(5)], True)):
        producer.begin_transaction()
        for value in values:
            producer.send(source, value)
        producer.flush()
        if commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    producer.close()
    with Guard(
        broker.consumer(source, group, isolation_level="read_committed"),
        CONTRACT,
        dead_letter_topic=dead,
        stop_at_end=True,
    ) as guard:
        assert [record.message and record.message.id for record in guard] == ["p3", "p4", "p5"]
    assert broker.ends(source) == {0: 7}
    assert broker.committed(source, group) == {0: 7}


def test_nulls_and_bytes_survive(broker: Broker, group: str) -> None:
    source, dead = broker.topic("pay"), broker.topic("pay.dead")
    producer = broker.producer()
    # A null header value cannot be sent through kafka-python's front door.
    cases: list[tuple[bytes | None, bytes]] = [(None, b"\x00"), (b"", b"\xff\xfe"), (b"\x00k", GARBAGE), (b"k", b"")]
    for key, value in cases:
        producer.send(source, value, key=key, headers=[("h", b"\xff"), ("h", b""), ("", b"x")])
    producer.send(source, None, key=b"gone")
    producer.flush()
    producer.close()
    with Guard(broker.consumer(source, group), CONTRACT, dead_letter_topic=dead, stop_at_end=True) as guard:
        assert not list(guard)
    records = sorted(broker.read(dead), key=lambda record: int(dead_headers(record)["protocontract.offset"]))
    assert [(record.key, record.value) for record in records] == cases
    assert all(list(record.headers[:3]) == [("h", b"\xff"), ("h", b""), ("", b"x")] for record in records)
    assert guard.stats.tombstones == 1


def test_a_64_mib_record(broker: Broker, group: str) -> None:
    limit = str(80 * 1024 * 1024)
    source, dead = broker.topic("pay", max_message_bytes=limit), broker.topic("pay.dead", max_message_bytes=limit)
    huge = GARBAGE + bytes(64 * 1024 * 1024)
    producer = broker.producer()
    for value in (huge, good(1)):
        producer.send(source, value).get(60)
    producer.close()
    # Without the optional crc32c package, kafka-python needs 20 s to check so much.
    unchecked = {"check_crcs": False}
    consumer = broker.consumer(source, group, **unchecked)
    with Guard(consumer, CONTRACT, dead_letter_topic=dead, stop_at_end=True) as guard:
        assert len(list(guard)) == 1
    (record,) = broker.read(dead, **unchecked)
    assert record.value == huge


def test_a_dead_letter_that_its_topic_refuses(broker: Broker, group: str) -> None:
    source = broker.topic("pay", max_message_bytes=str(4 * 1024 * 1024))
    dead = broker.topic("pay.dead", max_message_bytes=str(1024 * 1024))
    huge = GARBAGE + os.urandom(2 * 1024 * 1024)
    producer = broker.producer()
    for value in (GARBAGE, huge, GARBAGE, good(1)):
        producer.send(source, value).get(30)
    producer.close()
    with (
        pytest.raises(DeadLetterError, match="is larger than"),
        Guard(
            broker.consumer(source, group),
            CONTRACT,
            dead_letter_topic=dead,
            stop_at_end=True,
            give_up_after=2.0,
            grace=2.0,
        ) as guard,
    ):
        list(guard)
    assert broker.committed(source, group) == {0: 1}
    with Guard(
        broker.consumer(source, group), CONTRACT, dead_letter_topic=dead, stop_at_end=True, too_large="truncate"
    ) as guard:
        assert len(list(guard)) == 1
    assert broker.committed(source, group) == {0: 4}
    cut = [record for record in broker.read(dead) if "protocontract.truncated" in dead_headers(record)]
    assert [record.value for record in cut] == [huge[: 512 * 1024]]


def test_a_dead_letter_topic_that_is_missing_or_vanishes(broker: Broker, group: str) -> None:
    source = broker.topic("pay")
    dead = f"{source}.dead"
    producer = broker.producer()
    for value in (good(1), GARBAGE, good(2)):
        producer.send(source, value)
    producer.flush()
    settings = {
        "bootstrap_servers": broker.servers,
        "max_block_ms": 1_000,
        "request_timeout_ms": 2_000,
        "delivery_timeout_ms": 3_000,
    }
    consumer = broker.consumer(source, group)
    with pytest.raises(GuardError, match="cannot be used"):
        Guard(consumer, CONTRACT, dead_letter_topic=dead, dead_letters=settings).start()
    consumer.close(autocommit=False)

    broker.create(dead)
    with Guard(broker.consumer(source, group), CONTRACT, dead_letter_topic=dead, dead_letters=settings) as guard:
        records = iter(guard)
        next(records)
        broker.admin.delete_topics([dead])
        time.sleep(1.0)
        thread = run_in_thread(lambda: list(records))
        wait_until(lambda: guard.blocked is not None)
        assert dead in str(guard.blocked)
        assert broker.committed(source, group) == {0: 1}
        broker.create(dead)
        wait_until(lambda: broker.committed(source, group) == {0: 3})
        guard.stop()
        thread.join(180)
    assert len(broker.read(dead)) == 1


def wait_until(condition: Any, seconds: float = 120.0) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)


# -- the process

#: What the start checks ask of a dead-letter topic.
KEEPS_ALL = {"retention_ms": "-1", "max_message_bytes": str(2 * 1024 * 1024)}


def guard_process(broker: Broker, source: str, sink: str, dead: str, *more: str) -> subprocess.Popen[str]:
    """``protocontract guard`` as a process."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "protocontract.cli",
        "guard",
        "--contract",
        "acme.finance.v1.Transaction",
        "--proto-path",
        "contracts",
        "--source",
        source,
        "--sink",
        sink,
        "--dead-letter",
        dead,
        "--bootstrap-servers",
        broker.servers,
        *more,
    ]
    return subprocess.Popen(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_the_process_forwards_what_is_good(broker: Broker) -> None:
    source, sink, dead = broker.topic("raw", 2), broker.topic("clean", 2), broker.topic("dead", 1, **KEEPS_ALL)
    records = stream(2_000, seed=3)
    written = write(broker, source, records)
    producer = broker.producer()
    producer.send(source, None, key=b"gone", timestamp_ms=int(time.time() * 1000) - 60_000).get(10)
    producer.close()
    process = guard_process(broker, source, sink, dead, "--exit-at-end", "--format", "json")
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    report = json.loads(out)
    assert (report["consumed"], report["delivered"], report["dead_lettered"]) == (2_001, 1_900, 100)
    assert f"{source} -> {sink}   2,001 in   1,900 valid (95.00 %)" in err
    assert "100 dead" in err
    promised = transaction()
    by_key = {made.key: made for made in written.values() if made.rule is None}
    unchanged = 0
    for record in broker.read(sink):
        headers = dict(record.headers)
        if record.key == b"gone":
            assert record.value is None
            assert "protocontract.normalized" not in headers
            continue
        made = by_key.pop(record.key)
        assert headers["protocontract.normalized"] == promised.fingerprint.encode()
        assert headers["n"]
        message = promised.parse(made.value)
        assert record.value == message.SerializeToString(deterministic=True)
        unchanged += record.value == made.value
        # A second guard of this contract changes nothing any more.
        assert not promised.process(record.value, normalized=True).changes
    assert not by_key
    assert check_dead_letters(broker, dead, f"protocontract.{source}.{sink}", written).total() == 100


def test_the_process_ends_well_on_sigterm(broker: Broker) -> None:
    source, sink, dead = broker.topic("raw", 2), broker.topic("clean", 2), broker.topic("dead", 1, **KEEPS_ALL)
    written = write(broker, source, stream(1_000, seed=4))
    process = guard_process(broker, source, sink, dead, "--group", f"g-{source}")
    wait_until(lambda: broker.committed(source, f"g-{source}") == broker.ends(source))
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    begun = f"guarding {source} -> {sink}, dead letters to {dead}, group g-{source}: acme.finance.v1.Transaction 1.4.0"
    assert begun in err.splitlines()
    assert time.monotonic() - started < 60
    good_ones = sum(made.rule is None for made in written.values())
    assert len(broker.read(sink)) == good_ones
    assert broker.committed(source, f"g-{source}") == broker.ends(source)


def test_the_process_says_so_when_a_dead_letter_is_left_at_sigterm(broker: Broker) -> None:
    source, sink = broker.topic("raw"), broker.topic("clean")
    dead = broker.topic("dead", max_message_bytes="2000")
    producer = broker.producer()
    records = stream(40, seed=5)
    for made in records[:30]:
        producer.send(source, made.value, key=made.key)
    producer.send(source, GARBAGE + os.urandom(10_000)).get(10)
    for made in records[30:]:
        producer.send(source, made.value, key=made.key)
    producer.flush()
    producer.close()
    group = f"g-{source}"
    process = guard_process(broker, source, sink, dead, "--group", group, "--grace", "2", "--skip-checks")
    wait_until(lambda: broker.committed(source, group) == {0: 30})
    # A letter that failed beside others is tried by itself before it is known to be the one.
    assert process.stderr is not None
    reason = f"the record {source}:0:30 is larger than topic {dead} takes"
    assert any(reason in line for line in process.stderr)
    started = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1, err
    assert time.monotonic() - started < 60
    assert reason in err
    assert broker.committed(source, group) == {0: 30}


def test_the_process_says_what_is_missing(broker: Broker) -> None:
    source = broker.topic("raw")
    process = guard_process(broker, source, f"{source}.nowhere", broker.topic("dead"), "--exit-at-end")
    _, err = process.communicate(timeout=180)
    assert process.returncode == 2
    assert f"sink: topic {source}.nowhere does not exist" in err
    assert "guarding" not in err
    process = guard_process(broker, f"{source}.absent", source, "dead")
    _, err = process.communicate(timeout=180)
    assert process.returncode == 2
    assert f"topic {source}.absent does not exist" in err


def test_payloads_stay_out_of_kafkas_own_logs(broker: Broker, group: str, caplog: Any) -> None:
    source, dead = broker.topic("pay"), broker.topic("pay.dead")
    producer = broker.producer()
    producer.send(source, GARBAGE + b"4711-secret")
    producer.flush()
    producer.close()
    caplog.clear()
    client.keep_payloads_out_of_logs()
    with (
        caplog.at_level("DEBUG", logger="kafka.producer"),
        Guard(broker.consumer(source, group), contract(), dead_letter_topic=dead, stop_at_end=True) as guard,
    ):
        list(guard)
    assert b"4711-secret" in broker.read(dead)[0].value
    assert "4711" not in caplog.text
    # Nor is there a warning of what the guard means to do: it subscribes anew, with its own listener.
    assert "subscription unchanged" not in caplog.text
