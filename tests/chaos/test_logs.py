"""Reading a broker's logs from disk."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.chaos.logs import (
    Commit,
    Decision,
    Decisions,
    LogFile,
    Written,
    empty_history,
    without_markers,
    written,
)

DATA, MARKER = 0x10, 0x30


def batch(offset: int, producer: int, epoch: int, attributes: int = DATA, count: int = 2) -> bytes:
    """A batch without records: what is read here stands in its head."""
    head = struct.pack(">ibIhiqqqhii", 0, 2, 0, attributes, count - 1, 5, 6, producer, epoch, 0, count)
    return struct.pack(">qi", offset, len(head)) + head


def log(folder: Path, *batches: bytes) -> Path:
    (folder / "00000000000000000000.log").write_bytes(b"".join(batches))
    return folder


def test_what_is_on_its_way_is_read_later(tmp_path: Path) -> None:
    first, second = batch(0, 1, 0), batch(2, 1, 0)
    reader = LogFile(log(tmp_path, first, second[:-1]))
    assert [each.offset for each in reader.batches()] == [0]
    assert list(reader.batches()) == []
    # Files are longer than what was written to them, at times.
    log(tmp_path, first, second, bytes(100))
    assert [each.offset for each in reader.batches()] == [2]
    assert list(reader.batches()) == []


def test_another_format_is_refused(tmp_path: Path) -> None:
    old = bytearray(batch(0, 1, 0))
    old[16] = 1
    with pytest.raises(ValueError, match="format 1; expected 2"):
        list(LogFile(log(tmp_path, bytes(old))).batches())


def test_a_transaction_without_an_end_is_told_from_one_that_goes_on(tmp_path: Path) -> None:
    found = written(
        log(
            tmp_path,
            batch(0, 7, 0),
            batch(2, 8, 0),
            batch(4, 7, 1, MARKER, count=1),
            # 7 was ended by a marker of the next epoch; 8 is still open and goes on.
            batch(5, 7, 2),
            batch(7, 8, 0),
            # 8 comes back with another epoch, and nobody has ended the one before.
            batch(9, 8, 2),
            batch(11, -1, -1, attributes=0),
        )
    )
    assert found == [
        Written(0, 1, (7, 0), ended=True),
        Written(2, 3, (8, 0), ended=False),
        Written(5, 6, (7, 2), ended=True),
        Written(7, 8, (8, 0), ended=False),
        Written(9, 10, (8, 2), ended=True),
        Written(11, 12, (-1, -1), ended=True),
    ]


def test_a_transaction_that_its_coordinator_holds_for_ended_without_a_marker(tmp_path: Path) -> None:
    history = empty_history(tmp_path, "group", "topic")
    decisions = Decisions(LogFile(tmp_path))
    history.undecided = {producer: [Commit(0, 100, 0, 7)] for producer in range(5)}
    decisions.last = {
        0: Decision(0, 1, 200, committed=True, complete=True),
        # Not ended yet; ended before these offsets came; ended a moment ago; nothing is known of the last.
        1: Decision(1, 1, 200, committed=True, complete=False),
        2: Decision(2, 1, 99, committed=True, complete=True),
        3: Decision(3, 1, 900, committed=False, complete=True),
    }
    assert without_markers(history, decisions, before=900) == [decisions.last[0]]


def test_the_decisions_of_a_coordinator(tmp_path: Path) -> None:
    def state(producer: int, epoch: int, state: int) -> bytes:
        key, value = b"id", struct.pack(">hqhib", 1, producer, epoch, 10_000, state)
        record = bytes([0, 0, 0, len(key) * 2]) + key + bytes([len(value) * 2]) + value + b"\0"
        head = struct.pack(">ibIhiqqqhii", 0, 2, 0, 0, 0, 5, 5, -1, -1, -1, 1)
        body = bytes([len(record) * 2]) + record
        return struct.pack(">qi", producer, len(head + body)) + head + body

    decisions = Decisions(LogFile(log(tmp_path, state(1, 0, 1), state(2, 3, 4), state(3, 0, 2), state(3, 1, 5))))
    decisions.update()
    assert decisions.last == {2: Decision(2, 3, 5, True, True), 3: Decision(3, 1, 5, False, True)}
