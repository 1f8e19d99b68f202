"""Scaling out is the consumer group's: guards in processes of their own come and go under load, and nothing is lost."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.conftest import Broker
from tests.kafka.test_broker import ROOT, check_dead_letters, read_notes, wait_until, write
from tests.kafka.transactions import stream

pytestmark = pytest.mark.kafka

COUNT = 60_000
PARTITIONS = 8


def test_one_two_four_processes_share_a_topic(broker: Broker, group: str, tmp_path: Path) -> None:
    source, dead = broker.topic("pay", PARTITIONS), broker.topic("pay.dead")
    written = write(broker, source, stream(COUNT, seed=13))
    bad = {place for place, made in written.items() if made.rule is not None}
    notes = [tmp_path / f"notes{number}" for number in range(4)]
    for each in notes:
        each.touch()
    workers: list[subprocess.Popen[bytes]] = []
    go = tmp_path / "go"

    def begin(count: int) -> None:
        for _ in range(count):
            note = notes[len(workers)]
            command = [sys.executable, "-W", "ignore", "-m", "tests.kafka.worker"]
            arguments = (broker.servers, source, dead, group, str(note), "0", str(go))
            workers.append(subprocess.Popen([*command, *arguments], cwd=ROOT))

    try:
        begin(1)
        wait_until(lambda: notes[0].stat().st_size > 0)
        begin(1)
        wait_until(lambda: notes[1].stat().st_size > 0)
        begin(2)
        wait_until(lambda: all(each.stat().st_size > 0 for each in notes[2:]))
        committed = broker.committed(source, group)
        # One goes without a word; the others have its part after its session.
        workers[0].send_signal(signal.SIGKILL)
        go.touch()
        assert all(each.wait(300) == 0 for each in workers[1:])
    finally:
        for each in workers:
            each.kill()
            each.wait()
    delivered: Counter[Any] = sum((read_notes(each) for each in notes), Counter())
    assert set(delivered) == set(written) - bad
    assert set(check_dead_letters(broker, dead, group, written)) == bad
    assert broker.committed(source, group) == broker.ends(source)
    twice = {place for place, times in delivered.items() if times > 1}
    print(
        f"{COUNT:,} records, 1, 2, 4 and then 3 processes: shares {[read_notes(each).total() for each in notes]}, "
        f"0 lost, {len(twice):,} delivered twice, offsets {committed} committed at the kill"
    )
