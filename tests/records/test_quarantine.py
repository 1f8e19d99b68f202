"""Quarantine lines and files: provenance, privacy, one file a rank, cut back to a position."""

from __future__ import annotations

import base64
import json
import pickle
import stat
from pathlib import Path

import pytest

from protocontract.records.policy import RecordViolation, line_bytes, quarantine_line, travelling
from protocontract.records.quarantine import QuarantineFile
from protocontract.records.sources import Place
from protocontract.violations import ContractError, ContractViolation
from tests.support.samples import TEXT_SAMPLE, text_sample

RAW = text_sample(19, bad=True).SerializeToString()
PLACE = Place("train/a.binpb", 20, 1_234)


def test_a_line_says_where_it_came_from_and_what_was_wrong() -> None:
    violations = TEXT_SAMPLE.process(RAW).violations
    line = json.loads(line_bytes(quarantine_line(TEXT_SAMPLE, PLACE, "protobuf", RAW, violations, epoch=1, batch=7)))
    assert line.pop("first_failed_at").endswith("Z")
    assert base64.b64decode(line.pop("value")) == RAW
    assert len(line.pop("sha256")) == 64
    assert line == {
        "epoch": 1, "batch": 7, "source": "train/a.binpb", "record": 20, "offset": 1_234,
        "contract": "acme.text.v1.TextSample", "version": "2.1.0", "fingerprint": TEXT_SAMPLE.fingerprint,
        "rule_ids": ["spans.bounds"], "error_codes": [f"{violations[0].code:#010x}"], "field_paths": ["entities[0]"],
        "error_class": ["DATA/IMMEDIATE"], "violations": 1, "encoding": "protobuf",
    }  # fmt: skip


def test_the_error_says_the_place_and_travels() -> None:
    violations = TEXT_SAMPLE.process(RAW).violations
    error = RecordViolation(PLACE, violations)
    assert isinstance(error, ContractViolation)
    assert str(error).startswith("train/a.binpb record 20 (byte 1234): 1 violation of the contract\n")
    again = pickle.loads(pickle.dumps(error))
    assert (again.place, again.violations, str(again)) == (PLACE, violations, str(error))
    # What PyTorch does to an exception of a worker: this one must not be made of a text.
    with pytest.raises(TypeError):
        RecordViolation("text")  # type: ignore[call-arg]  # that it is refused is the point


def test_sensitive_values_do_not_travel() -> None:
    from acme.finance.v1.transaction_contract import TRANSACTION

    raw = TRANSACTION.message_type(account="4111 1111").SerializeToString()
    violations = travelling(TRANSACTION.process(raw).violations)
    assert any(each.field_path == "account" for each in violations)
    assert b"4111" not in pickle.dumps(violations)


def lines(path: Path) -> list[tuple[int, int]]:
    return [(line["epoch"], line["batch"]) for line in map(json.loads, path.read_text().splitlines())]


def line(epoch: int, batch: int) -> bytes:
    return line_bytes({"epoch": epoch, "batch": batch})


def test_a_rank_has_its_own_file_that_others_cannot_read(tmp_path: Path) -> None:
    alone = QuarantineFile(tmp_path / "new" / "rejects.jsonl", 0, 1)
    alone.append([line(0, 0)])
    assert alone.path == tmp_path / "new" / "rejects.jsonl"
    assert stat.S_IMODE(alone.path.stat().st_mode) == 0o600
    assert alone.position() == alone.path.stat().st_size > 0
    second = QuarantineFile(tmp_path / "rejects.jsonl", 1, 2)
    second.append([])
    assert second.position() == 0
    assert not second.path.exists()
    second.append([line(0, 1)])
    assert second.path == tmp_path / "rejects.rank1.jsonl"


def test_lines_after_a_position_are_cut_back_with_any_number_of_ranks(tmp_path: Path) -> None:
    base = tmp_path / "rejects.jsonl"
    for rank in range(3):
        file = QuarantineFile(base, rank, 3)
        file.append(line(epoch, batch) for epoch in (0, 1) for batch in range(rank, 9, 3))
        file.close()
    torn = tmp_path / "rejects.rank2.jsonl"
    torn.write_bytes(torn.read_bytes() + b'{"epoch": 1, "ba')
    other = tmp_path / "rejects.ranking.jsonl"
    other.write_text("not ours")
    for rank in range(2):
        QuarantineFile(base, rank, 2).cut_back(1, 4)
    assert lines(tmp_path / "rejects.rank0.jsonl") == [(0, 0), (0, 3), (0, 6), (1, 0), (1, 3)]
    assert lines(tmp_path / "rejects.rank1.jsonl") == [(0, 1), (0, 4), (0, 7), (1, 1)]
    assert lines(torn) == [(0, 2), (0, 5), (0, 8), (1, 2)]
    assert other.read_text() == "not ours"


def test_a_torn_last_line_goes_even_where_nothing_else_does(tmp_path: Path) -> None:
    path = tmp_path / "rejects.jsonl"
    path.write_bytes(line(0, 1) + b'{"epoch":0')
    QuarantineFile(path, 0, 1).cut_back(5, 0)
    assert path.read_bytes() == line(0, 1)


def test_a_new_run_moves_the_old_file_aside(tmp_path: Path) -> None:
    path = tmp_path / "rejects.jsonl"
    for run in range(3):
        file = QuarantineFile(path, 0, 1)
        file.begin_anew()
        file.append([line(run, 0)])
        file.close()
    assert [lines(tmp_path / name) for name in ("rejects.jsonl.1", "rejects.jsonl.2", "rejects.jsonl")] == [
        [(0, 0)], [(1, 0)], [(2, 0)],
    ]  # fmt: skip


def test_a_file_of_something_else_is_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "rejects.jsonl"
    path.write_text('{"name": 1}\n')
    with pytest.raises(ContractError, match="has a line that is no quarantine line; give another file"):
        QuarantineFile(path, 0, 1).cut_back(0, 0)
    assert path.read_text() == '{"name": 1}\n'
