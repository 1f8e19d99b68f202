"""``protocontract dead-letter inspect``: what lies in a dead-letter topic, and why, without sensitive values."""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocontract import cli
from protocontract.kafka import Guard
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.errors import SourceError
from protocontract.kafka.letters import command as dead_letter_command
from protocontract.kafka.letters.command import json_report, text_report
from protocontract.kafka.letters.reading import Selection, extent, last_letters, moment, parsed_code, read
from protocontract.kafka.letters.review import Reviewer
from protocontract.kafka.memory import MemoryLog
from tests.kafka.conftest import Broker
from tests.kafka.support import BAD, DEAD, GARBAGE, TOPIC, Payment, drain, good, new_guard, new_log
from tests.kafka.test_replay import MemoryCluster, replay
from tests.kafka.transactions import EIGHT, KINDS, NAME, PROTOS, make, transaction

Run = Callable[..., int]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """The command over an in-memory log."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))

    def command(log: MemoryLog, *arguments: str) -> int:
        def there(_: argparse.Namespace) -> Any:
            return MemoryCluster(log)

        monkeypatch.setattr(dead_letter_command, "cluster", there)
        return cli.main(["dead-letter", "inspect", DEAD, *arguments])

    return command


def transactions_log() -> MemoryLog:
    """One transaction of each bad kind."""
    log = new_log()
    for kind in EIGHT:
        made = make(random.Random(kind), kind)
        log.append(TOPIC, made.value, key=made.key, timestamp_ms=1_000)
    drain(new_guard(log, contract=transaction()))
    assert len(log.records(DEAD)) == len(EIGHT)
    return log


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "0 s"), (59.4, "59 s"), (61, "1 min 1 s"), (3_600, "1 h"), (100_000, "1 d 3 h"), (1e8, "1,157 d 9 h")],
)
def test_how_long(seconds: float, said: str) -> None:
    assert dead_letter_command._lasting(seconds) == said


def test_why_and_with_which_values(run: Run, capsys: Any) -> None:
    log = transactions_log()
    assert run(log, "--format", "json", "--proto-path", str(PROTOS)) == 0
    report = json.loads(capsys.readouterr().out)
    letters = dict(zip(EIGHT, report["letters"], strict=True))
    for kind, letter in letters.items():
        assert KINDS[kind] in [finding["rule_id"] for finding in letter["findings"]]
        assert letter["now"] == "rejected"
        assert letter["record"] == {"topic": TOPIC, "partition": 0, "offset": EIGHT.index(kind)}
        assert (letter["contract"], letter["version"], letter["group"]) == (NAME, "1.4.0", "group")
        assert (letter["attempt"], letter["replays"]) == (1, 0)
        assert letter["timestamp"] == "1970-01-01T00:00:01.000Z"
    (finding,) = letters["ambiguous"]["findings"]
    assert finding == {
        "rule_id": "money.ambiguous",
        "code": "0xb93db785",
        "field_path": "amount",
        "value": "1.234",
        "redacted": False,
    }
    (finding,) = letters["account"]["findings"]
    assert (finding["field_path"], finding["value"], finding["redacted"]) == ("account", None, True)
    assert report["by_rule"]["money.ambiguous"] == 1


def test_the_table(run: Run, capsys: Any) -> None:
    log = transactions_log()
    assert run(log, "--rule", "money.ambiguous", "--rule", "string.len", "--proto-path", str(PROTOS)) == 0
    written = [moment(log.records(DEAD)[number].timestamp) for number in (2, 5)]
    assert capsys.readouterr().out.splitlines() == [
        "payments.dead · 2 letters",
        f"  0:2  {written[0]}  payments:0:2  {NAME} 1.4.0  group  attempt 1  rejected",
        '      money.ambiguous  0xb93db785  amount   "1.234"',
        f"  0:5  {written[1]}  payments:0:5  {NAME} 1.4.0  group  attempt 1  rejected",
        f"      string.len       {account_code()}  account  (sensitive)",
        "by rule: money.ambiguous 1   string.len 1",
        "oldest unresolved: 0:0, 0 s old; its topic keeps it",
    ]


def test_the_oldest_that_nobody_has_resolved(
    run: Run, capsys: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = new_log()
    log.create_topic("payments.retry")
    log.append(TOPIC, GARBAGE)
    log.append(TOPIC, BAD)
    drain(new_guard(log))

    def waiting() -> Any:
        assert run(log, "--format", "json") == 0
        return json.loads(capsys.readouterr().out)["oldest_unresolved"]

    later = time.time() + 7_200
    monkeypatch.setattr("time.time", lambda: later)
    found = waiting()
    assert (found["letter"], found["seconds_to_retention"]) == ("0:0", None)
    assert 7_199 < found["age_seconds"] < 7_300
    monkeypatch.setattr(MemoryCluster, "kept", 3 * 3_600)
    assert 3_500 < waiting()["seconds_to_retention"] < 3_601
    assert run(log) == 0
    assert "oldest unresolved: 0:0, 2 h old; its topic deletes it in 1 h" in capsys.readouterr().out
    monkeypatch.setattr(MemoryCluster, "kept", 90_000.0)
    assert run(log) == 0
    assert "its topic deletes it in 23 h" in capsys.readouterr().out
    monkeypatch.setattr(MemoryCluster, "kept", 60.0)
    assert run(log) == 0
    assert "its topic may delete it now" in capsys.readouterr().out
    replay(log, tmp_path, selection=Selection(rules=("wire.malformed",)))
    assert waiting()["letter"] == "0:1"
    replay(log, tmp_path, plan="q")
    assert waiting() is None


def account_code() -> str:
    (found,) = transaction().process(make(random.Random(1), "account").value).violations
    return f"{found.code:#010x}"


def test_no_contract_no_values(run: Run, capsys: Any) -> None:
    log = transactions_log()
    assert run(log, "--format", "json", "--proto-path", str(Path(__file__).parent)) == 0
    said = capsys.readouterr()
    report = json.loads(said.out)
    assert {letter["now"] for letter in report["letters"]} == {"no contract"}
    assert {finding["value"] for letter in report["letters"] for finding in letter["findings"]} == {None}
    assert said.err.count("no values of acme.finance.v1.Transaction") == 1
    assert "1.234" not in said.out + said.err
    assert run(log, "--proto-path", str(Path(__file__).parent)) == 0
    assert "  not judged: no contract\n" in capsys.readouterr().out


def test_what_the_contract_would_take_now(run: Run, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    log = new_log()
    log.append(TOPIC, bytes(Payment(id="p", amount=0).SerializeToString()), key=b"k")
    log.append(TOPIC, GARBAGE, key=b"k")
    guard = new_guard(log)
    drain(guard)
    from tests.kafka.support import contract

    monkeypatch.setattr("protocontract.loading.resolve", lambda *_args, **_more: contract(validate=lambda _: None))
    assert run(log) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[1].endswith("accepted")
    assert out[3].endswith("rejected")


def test_a_name_in_a_header_imports_nothing(run: Run, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    drain(new_guard(log))
    headers = [
        (name, b"os:environ" if name == "protocontract.contract" else value)
        for name, value in log.records(DEAD)[0].headers
    ]
    log.append(DEAD, GARBAGE, None, headers)

    def refuse(name: str, **_: Any) -> Any:
        raise AssertionError(name)

    monkeypatch.setattr("protocontract.loading.resolve", refuse)
    assert run(log, "--contract", "os:environ") == 0
    assert "is no name of a message" in capsys.readouterr().err


def test_foreign_letters_reasons_and_odd_headers(run: Run, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    log = new_log()
    log.append(TOPIC, good(1), key=b"k")
    with new_guard(log) as guard:
        for record in guard:
            record.reject("no such account\x1b[2J")
    log.append(DEAD, b"x", headers=[("h", b"y")])
    log.append(
        DEAD,
        b"x",
        headers=[
            ("protocontract.topic", b"t\x1b"),
            ("protocontract.partition", b"one"),
            ("protocontract.contract", b"\xff\x1b"),
            ("protocontract.rule_ids", b"a,b,c"),
            ("protocontract.error_codes", b"0x1,zzz"),
            ("protocontract.attempt", b"-3"),
        ],
    )
    assert run(log) == 0
    said = capsys.readouterr()
    assert "reason: no such account" in said.out
    assert "0:1  " in said.out
    assert "not written by a guard" in said.out
    assert "\x1b" not in said.out + said.err
    assert run(log, "--format", "json") == 0
    report = json.loads(capsys.readouterr().out)
    assert [finding["code"] for finding in report["letters"][2]["findings"]] == ["0x00000001", None, None]
    assert report["letters"][2]["attempt"] == 1


def test_the_last_ones_by_time(run: Run, capsys: Any) -> None:
    log = MemoryLog()
    log.create_topic(TOPIC)
    log.create_topic(DEAD, 3)
    for number in range(300):
        log.append(TOPIC, GARBAGE if number % 50 else BAD, key=b"k%d" % number)
    drain(new_guard(log))
    consumer = log.consumer(group_id=None)

    def offsets(count: int | None, **conditions: Any) -> list[int]:
        return [letter.origin.offset for letter in last_letters(consumer, DEAD, count, Selection(**conditions).matches)]

    assert sorted(offsets(None)) == list(range(300))
    assert len(offsets(20)) == 20
    everything = offsets(None)
    assert offsets(20) == everything[-20:]
    # What is rare is found however far back it lies.
    assert sorted(offsets(20, rules=("required",))) == list(range(0, 300, 50))
    assert run(log, "--last", "3") == 0
    assert capsys.readouterr().out.startswith("payments.dead · 3 letters\n")
    assert run(log, "--all", "--format", "json") == 0
    assert len(json.loads(capsys.readouterr().out)["letters"]) == 300


def test_an_end_without_a_record(run: Run, capsys: Any) -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    drain(new_guard(log))
    log.append_marker(DEAD)
    log.append_marker(DEAD)
    assert run(log) == 0
    assert "1 letter\n" in capsys.readouterr().out
    log.compact(TopicPartition(DEAD, 0), [0])
    assert run(log) == 0
    assert capsys.readouterr().out == "payments.dead · 0 letters\n"


def test_what_cannot_be_read_is_told(run: Run, capsys: Any) -> None:
    log = MemoryLog()
    assert run(log) == 2
    assert capsys.readouterr().err == "error: topic payments.dead does not exist\n"
    log.create_topic(DEAD)
    log.append(DEAD, b"x")
    consumer = log.consumer(group_id=None)
    ends = {0: 5}
    # The end lies in a transaction that never ends, say.
    consumer.poll = lambda *_args, **_more: {}  # type: ignore[method-assign]
    with pytest.raises(SourceError, match=r"nothing came from payments.dead:0 for 0 s"):
        list(read(consumer, DEAD, extent(consumer, DEAD).starts, ends, patience=0.0))


def test_what_was_sent_again_is_marked_and_can_be_left_out(run: Run, capsys: Any, tmp_path: Path) -> None:
    log = new_log()
    log.create_topic("payments.retry")
    for value in (GARBAGE, BAD, GARBAGE):
        log.append(TOPIC, value)
    drain(new_guard(log))
    log.append(DEAD, b"who knows")
    replay(log, tmp_path, selection=Selection(rules=("wire.malformed",)))
    state = ("--state", str(tmp_path), "--proto-path", str(Path(__file__).parent))
    assert run(log, "--format", "json", *state) == 0
    letters = json.loads(capsys.readouterr().out)["letters"]
    assert [letter["sent_again"] for letter in letters] == [True, False, True, False]
    assert run(log, "--unresolved", *state) == 0
    out = capsys.readouterr().out
    assert out.startswith("payments.dead · 2 letters\n  0:1  ")
    assert run(log, *state) == 0
    assert capsys.readouterr().out.count("no contract, sent again") == 2


def test_reports_of_nothing() -> None:
    assert text_report(DEAD, []) == "payments.dead · 0 letters\n"
    assert json.loads(json_report(DEAD, [])) == {
        "topic": DEAD,
        "letters": [],
        "by_rule": {},
        "oldest_unresolved": None,
    }
    assert Reviewer().missing == {}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0xb93db785", 0xB93DB785),
        ("0XB93DB785", 0xB93DB785),
        ("12", 12),
        ("b93db785", None),
        ("-1", None),
        ("4294967296", None),
        ("", None),
    ],
)
def test_codes(text: str, code: int | None) -> None:
    assert parsed_code(text) == code


@pytest.mark.kafka
# Seen once: a client of kafka-python 3.0.12 was closed and left a socket open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_on_a_real_broker(broker: Broker, group: str, capsys: Any) -> None:
    source, dead = broker.topic("tx", 2), broker.topic("tx.dead", 2)
    producer = broker.producer()
    for number in range(200):
        made = make(random.Random(number), EIGHT[number % 8])
        producer.send(source, made.value, key=made.key, partition=number % 2)
    producer.close()
    with Guard(broker.consumer(source, group), transaction(), dead_letter_topic=dead, stop_at_end=True) as guard:
        assert list(guard) == []
    command = [
        "dead-letter",
        "inspect",
        dead,
        "--bootstrap-servers",
        broker.servers,
        "--proto-path",
        str(PROTOS),
        "--format",
        "json",
    ]
    assert cli.main([*command, "--last", "30"]) == 0
    assert len(json.loads(capsys.readouterr().out)["letters"]) == 30
    assert cli.main([*command, "--all", "--rule", "money.ambiguous"]) == 0
    letters = json.loads(capsys.readouterr().out)["letters"]
    assert len(letters) == 25
    assert {letter["findings"][0]["value"] for letter in letters} == {"1.234"}
    assert cli.main(["dead-letter", "inspect", "no.such.topic", "--bootstrap-servers", broker.servers]) == 2
    assert "topic no.such.topic does not exist" in capsys.readouterr().err
