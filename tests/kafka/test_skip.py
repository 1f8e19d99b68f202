"""``protocontract guard skip``: past the one record that stops a partition, with a trace of it, and past no other."""

from __future__ import annotations

import json
import random
import signal
import struct
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocontract import cli
from protocontract.kafka import Guard
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.halting import halted_by
from protocontract.kafka.letters.reading import DeadLetter
from protocontract.kafka.memory import SendFault
from protocontract.kafka.record import RecordId
from protocontract.kafka.skip import skipped_by
from protocontract.kafka.skipping import Skip
from tests.kafka.conftest import Broker
from tests.kafka.support import DEAD, GARBAGE, TOPIC, committed, dead_headers, good, new_guard, new_log
from tests.kafka.test_broker import KEEPS_ALL, guard_process, wait_until
from tests.kafka.transactions import PROTOS, make, transaction
from tests.support.ports import free_ports

CONTRACT_OPTIONS = ("--contract", "acme.finance.v1.Transaction", "--proto-path", str(PROTOS))


# -- the guard's side


class Asked:
    """A guard over an in-memory log that is asked when it gets nothing more to do."""

    def __init__(self, values: list[bytes], **options: Any) -> None:
        self.log = new_log()
        for value in values:
            self.log.append(TOPIC, value)
        self.consumer = self.log.consumer(TOPIC)
        self.guard: Guard[Any] = new_guard(self.log, self.consumer, **options)

    def run(self, *skips: Skip) -> list[int]:
        """Ask once the line stands (or there is nothing to do), then stop. Returns the offsets that were delivered."""
        left = list(skips)
        calls = [0]

        def on_idle() -> None:
            calls[0] += 1
            if left and (self.guard.halted or self.guard.blocked or calls[0] > 10):
                self.guard._skipping._asked.put(left.pop(0))
            elif not left and all(skip.done.is_set() for skip in skips) and calls[0] > 12:
                self.guard.stop()

        self.consumer.on_idle = on_idle
        with self.guard:
            return [record.offset for record in self.guard]


def skip_of(offset: int, standing: int | None = None, **options: Any) -> Skip:
    at = offset if standing is None else standing
    return Skip(RecordId(TOPIC, 0, offset), at, "ticket 4711", "ada", **options)


def test_the_record_of_a_halt(caplog: Any) -> None:
    asked = Asked([good(0), GARBAGE, GARBAGE, good(3)], breaker={"consecutive": 2}, stop_at_end=False)
    skip = skip_of(2)
    assert asked.run(skip) == [0]
    assert (skip.refused, skip.done.is_set()) == (None, True)
    assert committed(asked.log) == 3
    counts = asked.guard.stats
    assert (counts.skipped, counts.dead_lettered, counts.consumed) == (1, 1, 3)
    # The halt is another matter.
    assert halted_by(asked.log.consumer(group_id="group").committed(TopicPartition(TOPIC, 0), metadata=True).metadata)
    assert "skipped by an operator: record=payments:0:2 by='ada' reason='ticket 4711'" in caplog.text


def test_the_record_of_a_halt_before_this_guard() -> None:
    first = Asked([good(0), GARBAGE, GARBAGE, good(3)], breaker={"consecutive": 2}, stop_at_end=False)
    first.run()
    assert committed(first.log) == 2
    again = Asked([], breaker={"consecutive": 2}, stop_at_end=False)
    again.log = first.log
    again.consumer = first.log.consumer(TOPIC)
    again.guard = new_guard(again.log, again.consumer, breaker={"consecutive": 2}, stop_at_end=False)
    skip = skip_of(2)
    assert again.run(skip) == []
    assert (skip.refused, committed(again.log)) == (None, 3)
    assert (again.guard.stats.consumed, again.guard.stats.skipped) == (1, 1)


def test_a_letter_that_no_topic_takes() -> None:
    asked = Asked([good(0), GARBAGE, good(2)])
    asked.log.on_send = lambda topic, _: SendFault("fail") if topic == DEAD else None
    skip = skip_of(1)
    assert asked.run(skip) == [0, 2]
    assert (skip.refused, committed(asked.log)) == (None, 3)
    assert (asked.guard.stats.skipped, asked.guard.unacknowledged, asked.guard.blocked) == (1, 0, None)
    assert asked.log.records(DEAD) == []


@pytest.mark.parametrize(
    ("skip", "said"),
    [
        (skip_of(3), "stands at 2, not at 3"),
        (skip_of(2, standing=1), None),
        (skip_of(0), "stands at 2, not at 0"),
        (Skip(RecordId(TOPIC, 7, 2), 2, "r", "b"), "payments:7 is not with this member"),
        (skip_of(2, dry_run=True), None),
    ],
)
def test_only_the_record_that_stands_there(skip: Skip, said: str | None) -> None:
    asked = Asked([good(0), GARBAGE, GARBAGE, good(3)], breaker={"consecutive": 2}, stop_at_end=False)
    # The parameters are shared between runs of the test.
    skip = Skip(skip.record, skip.standing, skip.reason, skip.by, skip.dry_run)
    asked.run(skip)
    assert skip.done.is_set()
    assert (said or "") in (skip.refused or "")
    assert (skip.refused is None) == (said is None)
    assert committed(asked.log) == (2 if said or skip.dry_run else 3)


def test_a_line_that_runs_needs_no_help() -> None:
    asked = Asked([good(0)], stop_at_end=False)
    skip = skip_of(1)
    asked.run(skip)
    assert skip.refused == "payments:0 is neither halted nor blocked"


def test_asking_from_another_thread() -> None:
    asked = Asked([GARBAGE], breaker={"consecutive": 1}, stop_at_end=False)
    answers: list[str | None] = []

    def ask() -> None:
        answers.append(asked.guard.skip(skip_of(0)))
        asked.guard.stop()

    thread = threading.Thread(target=ask)
    # Once: the thread is started when the line stands.
    asked.consumer.on_idle = lambda: None if thread.ident or not asked.guard.halted else thread.start()
    with asked.guard:
        assert list(asked.guard) == []
    thread.join()
    assert answers == [None]
    assert asked.guard.skip(skip_of(0), within=0.0) == "the guard has not come to it within 0 s; ask again"


# -- the command, on a real broker


@pytest.fixture
def topics(broker: Broker) -> tuple[str, str, str]:
    """Source, sink, dead letters."""
    return broker.topic("raw"), broker.topic("clean"), broker.topic("dead", 1, **KEEPS_ALL)


@pytest.fixture
def run(broker: Broker, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """``protocontract`` in this process: exit code and what it said."""
    contract = transaction()
    monkeypatch.setattr("protocontract.loading.resolve", lambda *_args, **_more: contract)

    def command(*arguments: str) -> tuple[int, str]:
        code = cli.main([*arguments, "--bootstrap-servers", broker.servers])
        said = capsys.readouterr()
        return code, said.out + said.err

    return command


def write_batches(broker: Broker, topic: str, *sizes: int) -> None:
    """Good transactions in batches of these sizes, one request each."""
    number = 0
    for size in sizes:
        producer = broker.producer(linger_ms=1_000, batch_size=1 << 20)
        for _ in range(size):
            made = make(random.Random(number), None)
            producer.send(topic, made.value, key=made.key)
            number += 1
        producer.flush()
        producer.close()


def spoil_batch(broker: Broker, topic: str, number: int) -> None:
    """Change a byte of a batch in the broker's own file. Skips the test where the broker is not on this machine."""
    folders = [Path(each["log_dir"]) for one in broker.admin.describe_log_dirs() for each in one["log_dirs"]]
    files = [path for folder in folders if (path := folder / f"{topic}-0" / f"{0:020d}.log").exists()]
    if not files:
        pytest.skip("the broker's files are not on this machine")
    with files[0].open("r+b") as file:
        for _ in range(number):
            (length,) = struct.unpack(">i", file.read(12)[8:])
            file.seek(length, 1)
        (length,) = struct.unpack(">i", file.read(12)[8:])
        file.seek(length - 1, 1)
        last = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([last[0] ^ 0xFF]))


@pytest.mark.kafka
def test_a_batch_that_cannot_be_read(
    broker: Broker, topics: tuple[str, str, str], run: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    source, sink, dead = topics
    write_batches(broker, source, 3, 4, 2)
    spoil_batch(broker, source, 1)
    process = guard_process(broker, source, sink, dead, "--exit-at-end")
    _, err = process.communicate(timeout=180)
    assert process.returncode == 1, err
    assert f"{source}:0 next 3" in err
    common = ("--sink", sink, "--dead-letter", dead, *CONTRACT_OPTIONS, "--reason", "broken on disk", "--by", "ada")
    assert run("guard", "skip", f"{source}:0:1", *common)[0] == 1
    code, said = run("guard", "skip", f"{source}:0:8", *common)
    assert (code, "stands before 3, in a batch that cannot be read (CorruptRecordError); 8 is not in it" in said) == (
        1,
        True,
    ), said
    code, said = run("guard", "skip", f"{source}:0:3", *common, "--dry-run")
    assert (code, said.splitlines()[0]) == (
        0,
        f"would skip {source}:0 from 3 to 6 (4 offsets, CorruptRecordError) for protocontract.{source}.{sink}",
    )
    assert broker.read(dead) == []
    code, said = run("guard", "skip", f"{source}:0:3", *common)
    assert code == 0, said
    assert f"{source}:0 goes on at 7" in said
    code, said = run("guard", "status", "--source", source, "--sink", sink)
    assert code == 0
    assert f"skipped: {source}:0:3 by ada at " in said
    assert "broken on disk" in said
    process = guard_process(broker, source, sink, dead, "--exit-at-end", "--format", "json")
    out, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    assert json.loads(out)["delivered"] == 2
    assert len(broker.read(sink)) == 5
    # What is left of it: a letter that says which offsets, and that nobody can replay.
    (letter,) = broker.read(dead)
    assert letter.value == b""
    headers = dead_headers(letter)
    assert (headers["protocontract.offset"], headers["protocontract.skipped_until"]) == (b"3", b"7")
    assert (headers["protocontract.skipped_by"], headers["protocontract.reason"]) == (b"ada", b"broken on disk")
    assert DeadLetter(letter).rule_ids == ["operator.skipped"]
    code, said = run("dead-letter", "inspect", dead, *CONTRACT_OPTIONS[2:])
    assert (code, "attempt 1  skipped" in said, "operator.skipped" in said) == (0, True, True)
    assert "reason: broken on disk\n      skipped by ada at " in said
    code, said = run("replay", dead, "--to", sink, "--state", str(tmp_path), "--dry-run", "--format", "json")
    assert json.loads(said)["parked"] == {"skipped": 1}


@pytest.mark.kafka
def test_a_record_that_its_dead_letter_topic_does_not_take(broker: Broker, run: Callable[..., tuple[int, str]]) -> None:
    source, sink = broker.topic("raw"), broker.topic("clean")
    dead = broker.topic("dead", 1, retention_ms="-1", max_message_bytes="2000")
    write_batches(broker, source, 2)
    producer = broker.producer()
    producer.send(source, GARBAGE + bytes(10_000), key=b"large").get(10)
    producer.close()
    write_batches(broker, source, 1)
    port = str(free_ports(1)[0])
    group = f"protocontract.{source}.{sink}"
    process = guard_process(broker, source, sink, dead, "--skip-checks", "--http", port, "--format", "json")
    common = ("--sink", sink, "--dead-letter", dead, *CONTRACT_OPTIONS, "--reason", "坏记录, 100 %")
    try:
        wait_until(lambda: broker.committed(source, group) == {0: 2})
        code, said = run("guard", "skip", f"{source}:0:2", *common)
        assert (code, "has running members" in said) == (2, True), said
        code, said = run("guard", "skip", f"{source}:0:1", *common, "--http", port)
        assert code == 1, said

        def skipped() -> bool:
            # It takes the guard a moment to know that it is blocked.
            code, said = run("guard", "skip", f"{source}:0:2", *common, "--http", port)
            assert code == 0 or "neither halted nor blocked" in said, said
            return code == 0

        wait_until(skipped)
        wait_until(lambda: broker.committed(source, group) == {0: 4})
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    counts = json.loads(out)
    assert (counts["delivered"], counts["skipped"], counts["dead_lettered"]) == (3, 1, 0)
    (letter,) = broker.read(dead)
    assert (letter.key, letter.value) == (b"large", b"")
    headers = dead_headers(letter)
    assert headers["protocontract.original_size"] == str(len(GARBAGE) + 10_000).encode()
    assert headers["protocontract.rule_ids"] == b"operator.skipped"
    assert headers["protocontract.reason"].decode() == "坏记录, 100 %"
    assert "reason='坏记录, 100 %'" in err


@pytest.mark.kafka
def test_the_record_of_a_halt_in_a_group_that_is_down(
    broker: Broker, topics: tuple[str, str, str], run: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    source, sink, dead = topics
    producer = broker.producer()
    for kind in (None, "account", "id", None):
        made = make(random.Random(1), kind)
        producer.send(source, made.value, key=made.key)
    producer.close()
    breaker = ("--breaker-consecutive", "2", "--halt", "exit", "--exit-at-end")
    process = guard_process(broker, source, sink, dead, *breaker)
    _, err = process.communicate(timeout=180)
    assert process.returncode == 1, err
    common = ("--sink", sink, "--dead-letter", dead, *CONTRACT_OPTIONS, "--reason", "known bad", "--format", "json")
    code, said = run("guard", "skip", f"{source}:0:2", *common)
    assert code == 0, said
    report = json.loads(said)
    assert (report["readable"], report["until"], report["letter"]) == (True, 3, f"{dead}:0:1")
    assert report["halted"].startswith("breaker: 2 bad records in a row")
    named = ("--source", source, "--sink", sink)
    code, said = run("guard", "status", *named)
    assert (code, said.splitlines()[-1]) == (
        1,
        f"to go on: protocontract guard resume; without the record: protocontract guard skip {source}:0:3",
    )
    assert run("guard", "resume", *named, "--reason", "go")[0] == 0
    process = guard_process(broker, source, sink, dead, *breaker)
    _, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    assert len(broker.read(sink)) == 2
    # Its letter is whole: it can be replayed.
    retry = broker.topic("retry")
    code, said = run("replay", dead, "--to", retry, "--rule", "operator.skipped", "--state", str(tmp_path))
    assert code == 0, said
    assert broker.read(retry)[0].value == make(random.Random(1), "id").value
    assert run("guard", "skip", f"{source}:0:3", *common)[0] == 1


@pytest.mark.kafka
def test_what_cannot_be_skipped(
    broker: Broker, topics: tuple[str, str, str], run: Callable[..., tuple[int, str]]
) -> None:
    source, sink, dead = topics
    write_batches(broker, source, 2)
    common = ("--sink", sink, *CONTRACT_OPTIONS, "--reason", "x")
    skip = ("guard", "skip")
    code, said = run(*skip, f"{source}:0:9", *common, "--dead-letter", dead)
    assert (code, f"{source}:0 ends at 2" in said) == (1, True), said
    code, said = run(*skip, f"{source}:0:1", *common, "--dead-letter", dead)
    assert (code, "stands before 0, not before 1" in said) == (1, True), said
    code, said = run(*skip, f"{source}:7:0", *common, "--dead-letter", dead)
    assert (code, f"{source}:7 does not exist" in said) == (2, True), said
    code, said = run(*skip, f"{source}:0:0", *common, "--dead-letter", "nowhere")
    assert (code, "nowhere" in said) == (2, True), said
    assert broker.committed(source, f"protocontract.{source}.{sink}") == {0: 0}
    code, said = run(*skip, f"{source}:0:0", *common, "--dead-letter", "nowhere", "--without-letter")
    assert code == 0, said
    assert broker.committed(source, f"protocontract.{source}.{sink}") == {0: 1}
    assert run(*skip, "raw", *common)[0] == 2
    assert run(*skip, f"{source}:0:1", *common[:-1], " ")[0] == 2


def test_what_is_no_skip_in_the_metadata() -> None:
    assert skipped_by("") == ""
    assert skipped_by("protocontract.skip") == ""
    assert skipped_by('["protocontract.skip"]') == ""
