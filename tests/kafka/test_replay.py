"""``protocontract replay``: records go again as they were, once, and their id stays."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from protocontract import cli
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.letters import replay_command
from protocontract.kafka.letters.dead_letter import truncated
from protocontract.kafka.letters.reading import DeadLetter, Selection, extent
from protocontract.kafka.letters.replay import Replay, Report
from protocontract.kafka.letters.replay_log import Plan, ReplayLog
from protocontract.kafka.memory import MemoryConsumer, MemoryLog, SendFault
from tests.kafka.conftest import Broker
from tests.kafka.support import (
    BAD,
    CONTRACT,
    DEAD,
    GARBAGE,
    TOPIC,
    contract,
    dead_headers,
    drain,
    good,
    new_guard,
    new_log,
)

RETRY = "payments.retry"
DEAD_GROUP = f"protocontract.replay.{DEAD}"


def log_with(values: Sequence[bytes], partitions: int = 1, **options: Any) -> MemoryLog:
    """A log whose records a guard has read."""
    log = new_log(partitions)
    log.create_topic(RETRY)
    for number, value in enumerate(values):
        log.append(
            TOPIC,
            value,
            key=b"k%d" % number,
            headers=[("n", b"%d" % number), ("null", None)],
            partition=number % partitions,
            timestamp_ms=1_000 + number,
        )
    drain(new_guard(log, **options))
    return log


def replay(
    log: MemoryLog,
    state: Path,
    *,
    target: str | None = RETRY,
    plan: str = "p",
    max_replays: int = 3,
    selection: Selection | None = None,
    target_group: str | None = None,
    **options: Any,
) -> Report:
    """One run, as the command does it."""
    consumer = log.consumer(group_id=DEAD_GROUP)
    history = ReplayLog(state, DEAD)
    found = history.find(plan) or Plan(
        plan, DEAD, target, selection or Selection(), max_replays, target_group, extent(consumer, DEAD).ends
    )
    return Replay(consumer, log.producer, history, found, pauses=(0.0, 0.0), **options).run()


def retry_guard(log: MemoryLog, **options: Any) -> Any:
    """A guard on the target topic."""
    return new_guard(log, log.consumer(RETRY), **options)


def test_records_go_again_as_they_were(tmp_path: Path) -> None:
    log = log_with([good(0), BAD, GARBAGE, b"\xff"])
    report = replay(log, tmp_path)
    assert (report.replayed, report.complete) == (3, True)
    sent = log.records(RETRY)
    assert [(record.key, record.value) for record in sent] == [(b"k1", BAD), (b"k2", GARBAGE), (b"k3", b"\xff")]
    headers = dead_headers(sent[0])
    assert [pair for pair in sent[0].headers if not pair[0].startswith("protocontract.")] == [
        ("n", b"1"),
        ("null", b""),
    ]
    assert headers == {
        "protocontract.topic": TOPIC.encode(),
        "protocontract.partition": b"0",
        "protocontract.offset": b"1",
        "protocontract.timestamp": b"1001",
        "protocontract.timestamp_type": b"CreateTime",
        "protocontract.attempt": b"1",
        "protocontract.first_group": b"group",
        "protocontract.first_failed_at": headers["protocontract.first_failed_at"],
        "protocontract.replays": b"1",
        "protocontract.replayed": b"true",
        "protocontract.replay_plan": b"p",
        "protocontract.null_headers": b"1",
    }
    # The present: retention would take old timestamps at once.
    assert sent[0].timestamp > 10**12
    assert DeadLetter(sent[0]).restored().headers == [("n", b"1"), ("null", None)]


def test_k83_what_is_valid_now_is_delivered_once_and_the_rest_fails_again(tmp_path: Path) -> None:
    log = log_with([GARBAGE if number % 2 else BAD for number in range(100)])
    assert replay(log, tmp_path).replayed == 100
    fixed = contract(validate=lambda _: None)
    records = drain(retry_guard(log, contract=fixed))
    assert [record.id.offset for record in records] == list(range(0, 100, 2))
    assert {record.id.topic for record in records} == {TOPIC}
    again = [dead_headers(record) for record in log.records(DEAD)[100:]]
    assert [int(headers["protocontract.offset"]) for headers in again] == list(range(1, 100, 2))
    assert {(headers["protocontract.attempt"], headers["protocontract.replays"]) for headers in again} == {(b"2", b"1")}
    assert not any("protocontract.replayed" in headers for headers in again)
    assert log.committed(DEAD_GROUP, TopicPartition(DEAD, 0)) == 100
    # Once: the first letters are done or superseded, and only what failed again goes again.
    report = replay(log, tmp_path, plan="q")
    assert (report.replayed, report.done, report.superseded) == (50, 50, 50)
    assert log.committed(DEAD_GROUP, TopicPartition(DEAD, 0)) == 150


def test_k84_the_handler_sees_where_and_when_it_was_first(tmp_path: Path) -> None:
    log = log_with([BAD, good(1)])
    replay(log, tmp_path)
    (record,) = drain(retry_guard(log, contract=contract(validate=lambda _: None)))
    assert (str(record.id), record.offset) == (f"{TOPIC}:0:0", 0)
    assert dict(record.headers)["protocontract.timestamp"] == b"1000"
    assert dict(record.headers)["protocontract.replayed"] == b"true"


def test_k86_a_record_is_not_replayed_for_ever(tmp_path: Path) -> None:
    log = log_with([GARBAGE])
    sizes = []
    for number in range(3):
        assert replay(log, tmp_path, plan=f"p{number}", max_replays=3).replayed == 1
        drain(retry_guard(log))
        sizes.append(sum(len(name) + len(value or b"") for name, value in log.records(DEAD)[-1].headers))
    assert dead_headers(log.records(DEAD)[-1])["protocontract.replays"] == b"3"
    assert dead_headers(log.records(DEAD)[-1])["protocontract.attempt"] == b"4"
    assert max(sizes) - min(sizes) <= 2
    report = replay(log, tmp_path, plan="last", max_replays=3)
    assert (report.replayed, dict(report.parked), report.complete) == (0, {"max_replays": 1}, False)
    assert len(log.records(RETRY)) == 3
    # Past it in the group of the dead letters, with a mark in the log of the plan.
    assert log.committed(DEAD_GROUP, TopicPartition(DEAD, 0)) == 4
    assert json.loads((tmp_path / DEAD / "last.jsonl").read_text().splitlines()[1])["detail"] == "max_replays"
    # A plan that allows more takes it up again.
    assert replay(log, tmp_path, plan="more", max_replays=4).replayed == 1


def test_what_cannot_be_had_from_its_letter_stays_parked(tmp_path: Path) -> None:
    log = new_log()
    log.create_topic(RETRY)
    log.append(TOPIC, None)
    log.append(TOPIC, None, key=b"k")
    log.append(TOPIC, GARBAGE)
    drain(new_guard(log, tombstones="reject"))
    raw = log.records(DEAD)[-1]
    letter = truncated(replay_letter(raw), 3)
    log.append(
        DEAD,
        letter.value,
        raw.key,
        [
            (name, value.replace(b"2", b"9") if name == "protocontract.offset" else value)
            for name, value in letter.headers
        ],
    )
    log.append(DEAD, b"who knows", headers=[("h", b"x")])
    report = replay(log, tmp_path)
    assert dict(report.parked) == {"null": 1, "truncated": 1, "foreign": 1}
    assert [(record.key, record.value) for record in log.records(RETRY)] == [(b"k", None), (None, GARBAGE)]


def replay_letter(raw: Any) -> Any:
    from protocontract.kafka.letters.dead_letter import Letter

    return Letter(DEAD, raw.key, raw.value, list(raw.headers))


def test_a_dead_letter_written_twice_is_replayed_once(tmp_path: Path) -> None:
    log = log_with([BAD])
    copy = log.records(DEAD)[0]
    log.append(DEAD, copy.value, copy.key, copy.headers)
    report = replay(log, tmp_path)
    assert (report.replayed, report.superseded) == (1, 1)
    # A third copy comes later, from a guard that was thought dead.
    log.append(DEAD, copy.value, copy.key, copy.headers)
    report = replay(log, tmp_path, plan="q")
    assert (report.replayed, report.done, report.superseded) == (0, 1, 2)
    assert replay(log, tmp_path, plan="r", again=True).replayed == 1
    assert len(log.records(RETRY)) == 2


def test_filters(tmp_path: Path) -> None:
    log = log_with([BAD, GARBAGE, BAD, GARBAGE], partitions=2)
    first = DeadLetter(log.records(DEAD)[0])
    code = first.findings[0].code
    assert first.rule_ids == ["required", "int64.gte"]
    assert code is not None

    def count(**conditions: Any) -> int:
        report = replay(log, tmp_path, selection=Selection(**conditions), dry_run=True)
        assert report.replayed + report.unselected == 4
        return report.replayed

    assert count() == 4
    assert count(rules=("wire.malformed",)) == 2
    assert count(rules=("wire.malformed", "required")) == 4
    assert count(codes=(code,)) == 2
    assert count(version="1.2.0") == 4
    assert count(version="1.3.0") == 0
    assert count(contract=CONTRACT.full_name) == 4
    assert count(group="group") == 4
    assert count(group="other") == 0
    assert count(partitions=(1,)) == 2
    assert count(since=first.raw.timestamp) == 4
    assert count(until=first.raw.timestamp) == 0
    assert not (tmp_path / DEAD).exists()
    assert log.records(RETRY) == []


def test_a_filter_leaves_the_rest_for_later(tmp_path: Path) -> None:
    log = log_with([BAD, GARBAGE, BAD])
    report = replay(log, tmp_path, selection=Selection(rules=("wire.malformed",)))
    assert (report.replayed, report.unselected) == (1, 2)
    assert log.committed(DEAD_GROUP, TopicPartition(DEAD, 0)) is None
    assert replay(log, tmp_path, plan="q").replayed == 2
    assert sorted(DeadLetter(record).origin.offset for record in log.records(RETRY)) == [0, 1, 2]
    assert log.committed(DEAD_GROUP, TopicPartition(DEAD, 0)) == 3


def test_a_stopped_replay_is_resumed_where_it_was(tmp_path: Path) -> None:
    log = log_with([BAD] * 10)
    report = replay(log, tmp_path, rate=1_000_000.0, stopping=lambda: len(log.records(RETRY)) >= 1)
    first = report.replayed
    assert report.replayed + report.left == 10
    # What is dead-lettered in the meantime does not belong to the plan.
    log.append(TOPIC, GARBAGE)
    drain(new_guard(log))
    report = replay(log, tmp_path)
    assert (report.replayed, report.done) == (10 - first, first)
    assert len({DeadLetter(record).origin for record in log.records(RETRY)}) == len(log.records(RETRY)) == 10


def test_killed_while_it_wrote_its_log(tmp_path: Path) -> None:
    log = log_with([BAD] * 3)
    replay(log, tmp_path)
    path = tmp_path / DEAD / "p.jsonl"
    lines = path.read_text()
    path.write_text(lines[: len(lines) - 20])
    report = replay(log, tmp_path)
    assert (report.replayed, report.done) == (1, 2)
    assert replay(log, tmp_path).done == 3
    # Sent again, and recognisable.
    assert len(log.records(RETRY)) == 4
    assert len({DeadLetter(record).origin for record in log.records(RETRY)}) == 3


def test_a_target_that_cannot_be_written_leaves_all_for_later(tmp_path: Path) -> None:
    log = log_with([BAD] * 3)
    log.on_send = lambda topic, _: SendFault("fail") if topic == RETRY else None
    report = replay(log, tmp_path)
    assert (report.replayed, dict(report.failed)) == (0, {"KafkaTimeoutError": 3})
    assert report.trouble == f"topic {RETRY} cannot be written (KafkaTimeoutError)"
    assert log.committed(DEAD_GROUP, TopicPartition(DEAD, 0)) is None
    log.on_send = None
    assert replay(log, tmp_path).complete
    assert len(log.records(RETRY)) == 3


def test_one_that_is_too_large_stays_and_the_others_go(tmp_path: Path) -> None:
    log = log_with([BAD, GARBAGE * 1_000, BAD])
    log.delete_topic(RETRY)
    log.create_topic(RETRY, max_message_bytes=5_000)
    report = replay(log, tmp_path)
    assert (report.replayed, dict(report.failed), report.trouble) == (2, {"MessageSizeTooLargeError": 1}, None)
    assert not report.complete
    assert log.committed(DEAD_GROUP, TopicPartition(DEAD, 0)) == 1


def test_to_the_source_and_only_for_the_group_that_rejected(tmp_path: Path) -> None:
    log = log_with([BAD, good(1), BAD], partitions=2)
    assert replay(log, tmp_path, target=None).replayed == 2
    sent = [record for record in log.records(TOPIC) if "protocontract.replayed" in dict(record.headers)]
    # To the partition that each came from, whatever its key says.
    assert {(DeadLetter(record).origin.partition, record.partition) for record in sent} == {(0, 0)}
    assert {dead_headers(record)["protocontract.target_group"] for record in sent} == {b"group"}
    fixed = contract(validate=lambda _: None)
    records = drain(new_guard(log, contract=fixed))
    assert [str(record.id) for record in records] == [f"{TOPIC}:0:0", f"{TOPIC}:0:1"]
    other = new_guard(log, log.consumer(TOPIC, group_id="other"), contract=fixed)
    assert len(drain(other)) == 3
    assert other.stats.skipped == 2
    counts = other.stats
    assert counts.consumed == counts.delivered + counts.dead_lettered + counts.tombstones + counts.skipped


def test_a_guard_of_another_group_rejects_the_replay(tmp_path: Path) -> None:
    log = log_with([GARBAGE])
    replay(log, tmp_path)
    drain(new_guard(log, log.consumer(RETRY, group_id="retry")))
    headers = dead_headers(log.records(DEAD)[1])
    assert (headers["protocontract.group"], headers["protocontract.first_group"]) == (b"retry", b"group")
    report = replay(log, tmp_path, plan="q", target=None)
    assert (report.replayed, report.superseded) == (1, 1)
    # It goes to the group that reads the source, which is not the one that rejected it last.
    assert dead_headers(log.records(TOPIC)[1])["protocontract.target_group"] == b"group"
    drain(new_guard(log))
    assert "protocontract.first_group" not in dead_headers(log.records(DEAD)[2])


def test_a_group_with_a_very_long_name_is_not_skipped(tmp_path: Path) -> None:
    name = "g" * 300
    log = new_log()
    log.append(TOPIC, BAD, key=b"k")
    drain(new_guard(log, log.consumer(TOPIC, group_id=name)))
    replay(log, tmp_path, target=None)
    (record,) = drain(new_guard(log, log.consumer(TOPIC, group_id=name), contract=contract(validate=lambda _: None)))
    assert record.id.offset == 0


# -- the command


@contextmanager
def _lent(consumer: MemoryConsumer) -> Iterator[MemoryConsumer]:
    yield consumer


class MemoryCluster:
    """Stands for the cluster that the command line names."""

    #: Seconds for which its topics keep records.
    kept: float | None = None

    def __init__(self, log: MemoryLog) -> None:
        self._log = log

    def reader(self, group: str | None = None) -> Any:
        return _lent(self._log.consumer(group_id=group))

    def producers(self) -> Any:
        return self._log.producer

    def retention(self, _topic: str) -> float | None:
        return self.kept


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The command over an in-memory log."""

    def command(log: MemoryLog, *arguments: str) -> int:
        def there(_: argparse.Namespace) -> Any:
            return MemoryCluster(log)

        monkeypatch.setattr(replay_command, "cluster", there)
        return cli.main(["replay", DEAD, "--state", str(tmp_path), *arguments])

    return command


def test_where_to_is_never_guessed(run: Any, capsys: Any) -> None:
    log = log_with([BAD])
    assert run(log) == 2
    assert "--to TOPIC, or --to-source" in capsys.readouterr().err
    assert run(log, "--to", TOPIC) == 2
    assert "type --to-source if that is meant" in capsys.readouterr().err
    assert run(log, "--to", DEAD) == 2
    assert run(log, "--to", "nowhere") == 2
    assert "topic nowhere cannot be written" in capsys.readouterr().err
    assert run(log, "--to", "a/b") == 2
    assert run(log, "--to", RETRY, "--plan", "../x") == 2
    assert run(log, "--to", RETRY, "--since", "2026-03-09") == 2
    assert "a time with its zone" in capsys.readouterr().err
    assert len(log.records(TOPIC)) == 1
    assert log.records(RETRY) == []


def test_letters_of_several_groups_ask_for_one(run: Any, capsys: Any) -> None:
    log = log_with([BAD])
    drain(new_guard(log, log.consumer(TOPIC, group_id="risk")))
    assert run(log, "--to", RETRY) == 2
    said = capsys.readouterr().err
    assert "choose one with --group: group, risk" in said
    assert "plan" not in said  # none was begun that could be resumed
    assert run(log, "--to", RETRY, "--group", "risk") == 0
    assert len(log.records(RETRY)) == 1


def test_the_report_and_the_exit_code(run: Any, capsys: Any) -> None:
    log = log_with([BAD, GARBAGE, BAD, GARBAGE])
    assert run(log, "--rule", "wire.malformed", "--dry-run") == 0
    assert capsys.readouterr().out == (
        "payments.dead · dry run\n  would be replayed  2   wire.malformed 2\n  not selected       2\n"
    )
    assert run(log, "--rule", "wire.malfromed", "--dry-run") == 0
    assert "not selected       4   no letter is as asked for; protocontract dead-letter" in capsys.readouterr().out
    assert run(log, "--rule", "wire.malformed", "--to", RETRY, "--plan", "fix-7") == 0
    said = capsys.readouterr()
    assert said.out == (
        "payments.dead -> payments.retry · plan fix-7\n  replayed      2   wire.malformed 2\n  not selected  2\n"
    )
    assert said.err == "beginning plan fix-7; resume it with --plan fix-7\n"
    assert run(log, "--plan", "fix-7") == 0
    assert "replayed before  2" in capsys.readouterr().out
    assert run(log, "--plan", "fix-7", "--rule", "required") == 2
    assert "asked for something else" in capsys.readouterr().err
    assert run(log, "--to", RETRY, "--max-replays", "0", "--format", "json") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["parked"] == {"max_replays": 2}
    assert (report["replayed"], report["already_replayed"]) == (0, 2)


def test_two_replays_of_a_topic_do_not_run_at_once(run: Any, capsys: Any, tmp_path: Path) -> None:
    log = log_with([BAD])
    with ReplayLog(tmp_path, DEAD).locked():
        assert run(log, "--to", RETRY) == 2
        assert "another replay" in capsys.readouterr().err
        assert run(log, "--dry-run") == 0


def test_the_log_of_a_plan_holds_nothing_of_the_records(run: Any, tmp_path: Path, capsys: Any) -> None:
    log = new_log()
    log.create_topic(RETRY)
    log.append(TOPIC, b"\xffsecret-value", key=b"secret-key", headers=[("h", b"secret-header")])
    drain(new_guard(log))
    assert run(log, "--to", RETRY) == 0
    said = capsys.readouterr()
    held = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert f"{TOPIC}:0:0" in held
    assert "secret" not in held + said.out + said.err


# -- on a real broker


@pytest.mark.kafka
# Seen once: a client of kafka-python 3.0.12 was closed and left a socket open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_on_a_real_broker(broker: Broker, group: str, tmp_path: Path, capsys: Any) -> None:
    from protocontract.kafka import Guard

    source, dead, retry = broker.topic("pay", 2), broker.topic("pay.dead", 2), broker.topic("pay.retry")
    producer = broker.producer()
    for number in range(300):
        value = GARBAGE if number % 3 == 0 else BAD if number % 3 == 1 else good(number)
        producer.send(source, value, key=b"k%d" % number, headers=[("n", b"%d" % number)], partition=number % 2)
    producer.close()

    def guard(topic: str, name: str, **options: Any) -> list[Any]:
        with Guard(broker.consumer(topic, name), contract(**options), dead_letter_topic=dead, stop_at_end=True) as g:
            return list(g)

    assert len(guard(source, group)) == 100
    run = ["replay", dead, "--bootstrap-servers", broker.servers, "--state", str(tmp_path)]
    assert cli.main([*run, "--rule", "required", "--dry-run"]) == 0
    assert "would be replayed  100" in capsys.readouterr().out
    assert cli.main([*run, "--to", retry, "--plan", "one", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["replayed"] == 200
    assert cli.main([*run, "--plan", "one"]) == 0
    records = guard(retry, f"{group}.retry", validate=lambda _: None)
    assert len({record.id for record in records}) == len(records) == 100
    for record in records:
        assert record.headers[0] == ("n", record.key[1:])
        assert record.id.topic == source
    again = [dead_headers(record) for record in broker.read(dead)]
    assert [headers["protocontract.attempt"] for headers in again].count(b"2") == 100
    assert sum(end or 0 for end in broker.committed(dead, f"protocontract.replay.{dead}").values()) == 200
    assert cli.main([*run, "--to-source", "--max-replays", "1"]) == 1
    assert cli.main([*run, "--to-source"]) == 0
    assert sum(broker.ends(source).values()) == 400
    # For the group that reads the source, though it was another one that rejected them last.
    assert {
        dead_headers(record)["protocontract.target_group"] for record in broker.read(source) if dead_headers(record)
    } == {group.encode()}
    guard(source, group)
    assert len(broker.read(dead)) == 400


@pytest.mark.kafka
# Seen once: a client of kafka-python 3.0.12 was closed and left a socket open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_killed_and_resumed(broker: Broker, group: str, tmp_path: Path) -> None:
    dead, retry = broker.topic("pay.dead", 2), broker.topic("pay.retry", 2)
    log = log_with([BAD] * 1_000)
    producer = broker.producer(linger_ms=5)
    for letter in log.records(DEAD):
        producer.send(dead, letter.value, key=letter.key, headers=list(letter.headers))
    producer.close()
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-m",
        "protocontract.cli",
        "replay",
        dead,
        "--to",
        retry,
        "--plan",
        "p",
        "--bootstrap-servers",
        broker.servers,
        "--state",
        str(tmp_path),
        "--format",
        "json",
    ]
    noted = tmp_path / dead / "p.jsonl"

    def until(lines: int) -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and (not noted.exists() or noted.read_bytes().count(b"\n") < lines):
            time.sleep(0.02)

    def begin() -> subprocess.Popen[str]:
        return subprocess.Popen([*command, "--rate", "400"], stdout=subprocess.PIPE, text=True)

    killed = begin()
    until(300)
    killed.kill()
    killed.communicate()
    before = noted.read_bytes().count(b"\n") - 1
    stopped = begin()
    until(before + 200)
    stopped.terminate()
    report = json.loads(stopped.communicate(timeout=120)[0])
    assert stopped.returncode == 1
    assert 0 < report["left"] < 1_000
    assert (report["failed"], report["trouble"]) == ({}, None)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["replayed"] + report["already_replayed"] == 1_000
    sent = [DeadLetter(record).origin for record in broker.read(retry)]
    assert {origin.offset for origin in sent} == set(range(1_000))
    # At most what was on its way when it was killed comes twice.
    assert len(sent) - 1_000 <= 200
