"""``protocontract sample``: records of a topic, in a file that the gate counts by."""

from __future__ import annotations

import argparse
import io
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocontract import cli
from protocontract.kafka import sample_command
from protocontract.kafka.memory import MemoryLog
from protocontract.wire_stream import read_delimited
from tests.kafka.conftest import Broker
from tests.kafka.support import TOPIC, good, new_log
from tests.kafka.test_replay import MemoryCluster

Run = Callable[..., int]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command over an in-memory log."""

    def command(log: MemoryLog, *arguments: str) -> int:
        def there(_: argparse.Namespace) -> Any:
            return MemoryCluster(log)

        monkeypatch.setattr(sample_command, "cluster", there)
        return cli.main(["sample", "--source", TOPIC, *arguments])

    return command


def records(path: Path) -> list[Any]:
    return list(read_delimited(io.BytesIO(path.read_bytes())))


def filled(partitions: int = 1, count: int = 6) -> MemoryLog:
    log = new_log(partitions)
    for number in range(count):
        log.append(TOPIC, good(number), partition=number % partitions, timestamp_ms=number)
    return log


def test_the_last_records_in_order(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "a.binpb"
    assert run(filled(), "--last", "4", "--out", str(out)) == 0
    assert records(out) == [good(number) for number in (2, 3, 4, 5)]
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert "4 records of payments" in capsys.readouterr().err


def test_ranges_of_partitions(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "a.binpb"
    assert run(filled(2), "--range", "1:1-3", "--range", "0:0-1", "--out", str(out)) == 0
    assert records(out) == [good(3), good(5), good(0)]
    assert run(filled(2), "--range", "1:2-99", "--out", str(out)) == 0
    assert records(out) == [good(5)]


def test_frames_are_taken_off_and_tombstones_left_out(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = new_log()
    for value in (b"\x00\x00\x00\x00\x07\x00" + good(1), None, b"no frame"):
        log.append(TOPIC, value)
    out = tmp_path / "a.binpb"
    assert run(log, "--encoding", "confluent", "--out", str(out)) == 0
    assert records(out) == [good(1)]
    assert "1 record of payments; 2 records left out (no value, or no frame)" in capsys.readouterr().err


def test_json_becomes_lines(run: Run, tmp_path: Path) -> None:
    log = new_log()
    for value in (b'{"id": "a",\r\n "amount": 1}', b'{"id": "b\\n"}'):
        log.append(TOPIC, value)
    out = tmp_path / "a.jsonl"
    assert run(log, "--encoding", "json", "--out", str(out)) == 0
    assert [json.loads(line) for line in out.read_text().splitlines()] == [{"id": "a", "amount": 1}, {"id": "b\n"}]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "a.txt"], "cannot tell how to write a.txt; expected a name in .binpb or .jsonl"),
        (["--out", "a.jsonl"], "records in protobuf do not go into a.jsonl"),
        (["--out", "a.binpb", "--range", "0:5-5"], "expected PARTITION:FIRST-END"),
        (["--out", "a.binpb", "--last", "0"], "expected a number of records"),
    ],
)
def test_what_cannot_be_written_is_said(
    arguments: list[str], said: str, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(filled(), *arguments) == 2
    assert said in capsys.readouterr().err


@pytest.mark.kafka
def test_on_a_broker(broker: Broker, tmp_path: Path) -> None:
    topic = broker.topic("sample")
    producer = broker.producer()
    for number in range(5):
        producer.send(topic, good(number))
    producer.flush()
    out = tmp_path / "a.binpb"
    words = ["--source", topic, "--last", "3", "--out", str(out), "--bootstrap-servers", broker.servers]
    assert cli.main(["sample", *words]) == 0
    assert records(out) == [good(2), good(3), good(4)]
