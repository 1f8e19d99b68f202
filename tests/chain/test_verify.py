"""Every change of a chain is found, and its first place named (S30, S35)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from protocontract.chain import (
    Anchor,
    BrokenEntry,
    Entry,
    EvidenceError,
    EvidenceLog,
    Key,
    Problem,
    anchor_file,
    read_anchors,
    verify,
    verify_record,
)  # fmt: skip
from protocontract.chain.canonical import Value
from protocontract.chain.steps import Step
from protocontract.loading import load
from tests.chain.support import KEY, chain_of_20, request, stage

POSITIONS = range(20)


def first_bad(path: Path, lines: list[bytes], **options: object) -> Problem:
    path.write_bytes(b"".join(lines))
    problem = verify(path, **options).problem  # type: ignore[arg-type]
    assert problem is not None
    return problem


def changed(line: bytes, **held: object) -> bytes:
    """The line of a step with other content, and the hash that fits it."""
    step = Entry.parse(line.strip()).step
    values = {name: getattr(step, name) for name in Step.__slots__}
    return Entry.of(Step(**{**values, **held})).line + b"\n"


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])
def test_an_unchanged_chain_holds(tmp_path: Path, key: Key | None) -> None:
    chain_of_20(tmp_path / "log", key)
    found = verify(tmp_path / "log", key=key)
    assert found.ok
    assert (found.entries, found.closed, found.begun, found.ended, found.open_count) == (20, 3, 1, True, 0)
    assert found.key == (None if key is None else key.id)


@pytest.mark.parametrize("position", POSITIONS)
def test_an_edited_entry(tmp_path: Path, position: int) -> None:
    lines = chain_of_20(tmp_path / "log")
    line = lines[position]
    at = line.index(b'"at":"i:') + len(b'"at":"i:')
    edits = {
        "a digit": line[:at] + (b"2" if line[at : at + 1] == b"1" else b"1") + line[at + 1 :],
        "its hash": line.replace(line[9:10], b"0" if line[9:10] != b"0" else b"1", 1),
        "a space": line.replace(b",", b", ", 1),
        "a field twice": line.replace(b'"at":', b'"at":"i:1","at":', 1),
        "another field": line.replace(b'"at":', b'"as":"i:1","at":', 1),
        "no JSON": b"{" + line,
        "not UTF-8": line.replace(b'"name":"s:', b'"name":"s:\xff'),
        "empty": b"\n",
    }
    for edit, new in edits.items():
        problem = first_bad(tmp_path / "log", [*lines[:position], new, *lines[position + 1 :]])
        assert (problem.position, problem.line) == (position, position + 1), (edit, problem)


@pytest.mark.parametrize("position", POSITIONS)
def test_every_bit_of_an_entry_counts(tmp_path: Path, position: int) -> None:
    lines = chain_of_20(tmp_path / "log")
    line = lines[position].rstrip(b"\n")
    for place in range(0, len(line), 7):
        new = line[:place] + bytes([line[place] ^ 1 << place % 8]) + line[place + 1 :]
        if b"\n" in new:
            continue  # two lines: tests of inserted ones
        assert (
            first_bad(tmp_path / "log", [*lines[:position], new + b"\n", *lines[position + 1 :]]).position == position
        )


@pytest.mark.parametrize("position", POSITIONS[:-1])
def test_an_entry_that_was_written_anew_breaks_the_link(tmp_path: Path, position: int) -> None:
    lines = chain_of_20(tmp_path / "log")
    new = changed(lines[position], nanoseconds=7)
    assert first_bad(tmp_path / "log", [*lines[:position], new, *lines[position + 1 :]]).position == position + 1


@pytest.mark.parametrize("position", POSITIONS)
def test_with_a_key_nobody_else_writes_one_anew(tmp_path: Path, position: int) -> None:
    """Not even the last entry, nor the whole chain from there."""
    lines = chain_of_20(tmp_path / "log", KEY)
    forged = lines[:position]
    previous = Entry.parse(lines[position - 1].strip()).hash if position else None
    parents: dict[str, str] = {}
    for line in lines[position:]:
        old = Entry.parse(line.strip())
        parent = None if old.step.parent is None else parents.get(old.step.parent, old.step.parent)
        without = changed(line, nanoseconds=7, previous=previous, parent=parent)
        new = Entry.parse(without.strip())
        parents[old.hash] = previous = new.hash
        mac = Key(b"the key of somebody else").mac("step", new.hash.encode())
        forged.append(without.replace(b'"step":', f'"mac":"{mac}","step":'.encode(), 1))
    assert first_bad(tmp_path / "log", forged, key=KEY).position == position
    # Nobody sees it without the key: that is what `protocontract evidence verify` says then.
    assert verify(tmp_path / "log").ok


def test_a_chain_without_the_key_is_no_chain_of_it(tmp_path: Path) -> None:
    chain_of_20(tmp_path / "log")
    problem = verify(tmp_path / "log", key=KEY).problem
    assert str(problem) == "position 0 (line 1): it has no HMAC; expected one of the key"
    keyed = chain_of_20(tmp_path / "keyed", KEY)
    stripped = [changed(line) for line in keyed]
    assert first_bad(tmp_path / "keyed", [*keyed[:5], *stripped[5:]]).position == 5


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("other", [1, 2, 5])
def test_entries_that_changed_places(tmp_path: Path, position: int, other: int) -> None:
    lines = chain_of_20(tmp_path / "log")
    place = position + other if position + other < len(lines) else position - other
    lines[position], lines[place] = lines[place], lines[position]
    assert first_bad(tmp_path / "log", lines).position == min(position, place)


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("count", [1, 3])
def test_entries_that_are_missing(tmp_path: Path, position: int, count: int) -> None:
    lines = chain_of_20(tmp_path / "log")
    del lines[position : position + count]
    assert first_bad(tmp_path / "log", lines).position == position


@pytest.mark.parametrize("position", range(21))
def test_entries_that_were_put_in(tmp_path: Path, position: int) -> None:
    lines = chain_of_20(tmp_path / "log")
    foreign = chain_of_20(tmp_path / "other")
    for new, expected in (
        # Without an anchor a foreign begin is as good as the own one, which is too many then.
        (foreign[min(position, 19)], position or 1),
        (lines[3], position + (position == 3)),  # the same bytes twice: the second one is too many
        (b"{}\n", position),
        (changed(lines[2], sequence=position, at=1), position + (position == 2)),
    ):
        problem = first_bad(tmp_path / "log", [*lines[:position], new, *lines[position:]])
        assert problem.position == expected
    lines[position:position] = [lines[min(position, 19)]]
    assert first_bad(tmp_path / "log", lines).position == min(position + 1, 20)


@pytest.mark.parametrize("edited", [19, 18])
def test_a_torn_step_does_not_stand_for_an_edited_entry(tmp_path: Path, edited: int) -> None:
    """A crash leaves part of a line; a whole one that is no entry was edited, and no restart takes it over."""
    path = tmp_path / "log"
    lines = chain_of_20(path)
    stretch = b"".join(lines[edited:]).replace(b'"at":"i:', b'"at":"i:1')
    path.write_bytes(b"".join(lines[:edited]) + stretch)
    with pytest.raises(EvidenceError, match="the last entry of log was changed"):
        EvidenceLog(path)
    told: dict[str, Value] = {"bytes": len(stretch) - 1, "sha256": hashlib.sha256(stretch[:-1]).hexdigest()}
    before = Entry.parse(lines[edited - 1].strip())
    torn = Entry.of(Step(sequence=edited, previous=before.hash, kind="torn", at=1, facts=told))
    assert first_bad(path, [*lines[:edited], stretch, torn.line + b"\n"]).position == edited


# ----------------------------------------------------------------------------------------------------------------------
# The tail


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_tail_that_was_cut_off(tmp_path: Path, cut: int) -> None:
    lines = chain_of_20(tmp_path / "log")
    problem = first_bad(tmp_path / "log", lines[:-cut])
    assert problem.position == 20 - cut
    assert "no end step" in problem.reason


@pytest.mark.parametrize("every", [1, 4, 100])
def test_a_tail_up_to_an_earlier_end_is_found_by_an_anchor(tmp_path: Path, every: int) -> None:
    path, anchors = tmp_path / "log", tmp_path / "anchors"
    for number in range(2):
        with EvidenceLog(path, anchor=anchor_file(anchors), anchor_every=every, key=KEY) as log:
            request(log, f"request-{number}")
    lines = path.read_bytes().splitlines(keepends=True)
    assert verify(path, anchors=read_anchors(anchors), key=KEY).anchored == len(lines)
    path.write_bytes(b"".join(lines[:8]))
    assert verify(path).ok  # it does not show: the end of the first run is an end
    problem = verify(path, anchors=read_anchors(anchors), key=KEY).problem
    assert problem is not None
    assert problem.position == 8
    assert "its tail was cut off" in problem.reason


def test_an_anchor_stands_for_an_end(tmp_path: Path) -> None:
    path, anchors = tmp_path / "log", tmp_path / "anchors"
    log = EvidenceLog(path, anchor=anchor_file(anchors), anchor_every=1)
    request(log, "one")
    assert verify(path, anchors=read_anchors(anchors)).ok
    assert not verify(path).ok
    found = verify(path, require_end=False)
    assert found.ok
    assert not found.ended
    log.close()


def test_anchors_of_other_logs_and_forged_ones(tmp_path: Path) -> None:
    told: list[Anchor] = []
    with EvidenceLog(tmp_path / "log", anchor=told.append, key=KEY) as log:
        request(log, "one")
    chain_of_20(tmp_path / "other")
    for anchor, reason in (
        (told[0], "an anchor is one of another log"),
        (Anchor(verify(tmp_path / "other").chain or "", 3, "0" * 64, 1), "an anchor has another hash here"),
    ):
        assert verify(tmp_path / "other", anchors=[anchor]).problem.reason == reason  # type: ignore[union-attr]
    forged = Anchor(told[-1].chain, told[-1].length, told[-1].head, told[-1].at + 1, told[-1].mac)
    assert verify(tmp_path / "log", anchors=[forged], key=KEY).problem.reason == "an anchor was not made with the key"  # type: ignore[union-attr]
    assert verify(tmp_path / "log", anchors=told, key=KEY).ok


def test_half_an_anchor_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "anchors"
    append = anchor_file(path)
    append(Anchor("0" * 64, 1, "0" * 64, 1))
    path.write_bytes(path.read_bytes() + b'{"at":"i:2",')
    append(Anchor("0" * 64, 2, "1" * 64, 3))
    assert [anchor.length for anchor in read_anchors(path)] == [1, 2]
    path.write_bytes(b"what is no anchor\n")
    with pytest.raises(EvidenceError, match="holds no anchor"):
        list(read_anchors(path))


# ----------------------------------------------------------------------------------------------------------------------
# One request's steps alone


def test_a_record_is_verified_without_the_log(tmp_path: Path) -> None:
    with EvidenceLog(tmp_path / "log", key=KEY) as log:
        recorder = log.record("mine")
        for name in ("normalize", "validate", "infer"):
            request(log, f"other {name}")
            stage(recorder, name)
        record = recorder.close()
    lines = list(record.lines())
    assert verify_record(lines, key=KEY).request == "mine"
    assert record.head == Entry.parse(lines[-1].encode()).hash
    for broken in (lines[:-1], lines[1:], [lines[1], lines[0], *lines[2:]], [lines[0], *lines[2:]], []):
        with pytest.raises(BrokenEntry):
            verify_record(broken, key=KEY)
    for position in range(len(lines)):
        new = lines.copy()
        new[position] = json.dumps(json.loads(new[position]) | {"hash": "0" * 64}, separators=(",", ":"))
        with pytest.raises(BrokenEntry):
            verify_record(new)
    with pytest.raises(BrokenEntry, match="is not one of the key"):
        verify_record(lines, key=Key(b"the key of somebody else"))


def test_a_response_carries_its_evidence(tmp_path: Path) -> None:
    """The example's response: its contract demands that each step names the digest of the one before."""
    from acme.inference.v1.model_service_pb2 import PredictResponse

    with EvidenceLog(tmp_path / "log") as log:
        request(log, "somebody else")
        recorder = log.record("mine")
        stage(recorder, "validate")
        stage(recorder, "infer", provider="CPUExecutionProvider")
        record = recorder.close()
    response = PredictResponse()
    record.fill(response.evidence)
    steps = response.evidence
    assert [step.name for step in steps] == ["validate", "infer", "close"]
    assert [list(step.previous) for step in steps] == [[], [steps[0].digest], [steps[1].digest]]
    assert [step.provider for step in steps] == ["", "CPUExecutionProvider", ""]
    assert steps[-1].digest == record.head
    assert record.metadata() == (("protocontract-evidence", record.head),)
    assert steps[0].at.ToNanoseconds() == record.entries[0].step.at
    contract = load("acme.inference.v1.PredictResponse")
    assert not [found for found in contract.validate(response) if found.field_path.startswith("evidence")]
