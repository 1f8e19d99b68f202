"""One chain of all requests: concurrent appends (S32), full disks and failures (S33), crashes and restarts."""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from protocontract.chain import STAGES, EvidenceError, EvidenceLog, Key, Level, records, verify, verify_record
from protocontract.chain import log as log_module
from protocontract.chain.steps import entries
from tests.chain.support import KEY, chain_of_20, request, stage


@contextmanager
def disk_full_after(path: Path, more: int) -> Iterator[None]:
    """Lets a file grow by so many bytes: a real write that stops in the middle, and real errors after it."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + more, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# ----------------------------------------------------------------------------------------------------------------------
# S32


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])
def test_fifty_requests_of_one_batch(tmp_path: Path, key: Key | None) -> None:
    start = threading.Barrier(50)
    found: dict[str, Any] = {}
    with EvidenceLog(tmp_path / "log", key=key) as log:

        def serve(name: str) -> None:
            recorder = log.record(name)
            for each in STAGES:
                start.wait()  # all fifty write the same step at the same time
                stage(recorder, each, batch_size=50)
            found[name] = recorder.close()

        threads = [threading.Thread(target=serve, args=(f"request-{number}",)) for number in range(50)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    held = list(entries(tmp_path / "log"))
    assert [entry.step.sequence for entry in held] == list(range(2 + 50 * 6))
    assert len({entry.step.previous for entry in held}) == len(held)  # no fork
    verified = verify(tmp_path / "log", key=key)
    assert verified.ok
    assert (verified.closed, verified.open_count, verified.gaps) == (50, 0, 0)
    for name, record in found.items():
        assert record.proven
        [taken] = records(tmp_path / "log", name)
        assert [entry.step.name for entry in taken] == [*STAGES, ""]
        assert verify_record([entry.line for entry in taken], key=key).request == name
        assert taken[-1].hash == record.head


def test_two_requests_with_one_id_are_two_records(tmp_path: Path) -> None:
    with EvidenceLog(tmp_path / "log") as log:
        one, two = log.record("same"), log.record("same")
        for each in ("normalize", "infer"):
            stage(one, each)
            stage(two, each)
        two.close()
        one.close()
    assert [len(taken) for taken in records(tmp_path / "log", "same")] == [3, 3]
    assert verify(tmp_path / "log").closed == 2


def test_a_log_has_one_writer(tmp_path: Path) -> None:
    with (
        EvidenceLog(tmp_path / "log") as log,
        pytest.raises(EvidenceError, match="expected a log of its own for each process"),
    ):
        EvidenceLog(tmp_path / "log")
    log.close()  # a second time: nothing
    assert [entry.step.kind for entry in entries(tmp_path / "log")] == ["begin", "end"]
    with pytest.raises(EvidenceError, match="is closed"):
        log.record("late").step("infer", module="m:f")


def test_a_forked_process_must_not_go_on(tmp_path: Path) -> None:
    log = EvidenceLog(tmp_path / "log")
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_append_in_child, args=(log,))
    child.start()
    child.join()
    assert child.exitcode == 7
    log.close()
    assert verify(tmp_path / "log").entries == 2


def _append_in_child(log: EvidenceLog) -> None:
    try:
        request(log, "child")
    except EvidenceError as error:
        os._exit(7 if "before a fork" in str(error) else 1)


def test_what_others_do_to_the_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    log = EvidenceLog(path)
    with path.open("ab") as other:
        other.write(b"a line\n")
    with pytest.raises(EvidenceError, match="somebody else wrote to it"):
        request(log, "one")
    path.unlink()
    with pytest.raises(EvidenceError, match="was deleted"):
        request(log, "two")
    with pytest.raises(EvidenceError):
        log.close()


# ----------------------------------------------------------------------------------------------------------------------
# S33


def test_a_device_that_is_always_full() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with pytest.raises(EvidenceError, match="cannot be written to full: no space left on device"):
        EvidenceLog("/dev/full")
    log = EvidenceLog("/dev/full", required=False)
    with pytest.raises(EvidenceError, match="no space left"):
        log.record("one").step("infer", module="m:f")
    recorder = log.record("two", Level.BEST_EFFORT)
    assert recorder.step("infer", module="m:f") is None
    record = recorder.close()
    assert (record.proven, record.head, record.lost) == (False, None, 2)
    assert record.metadata() == (("protocontract-evidence-gap", "2"),)


@pytest.mark.parametrize("more", [0, 1, 9, 200, 600, 601])
def test_a_disk_that_gets_full_after_the_model_ran(tmp_path: Path, more: int) -> None:
    """Whatever part of the line is written: required evidence fails the request, and the gap shows."""
    path = tmp_path / "log"
    with EvidenceLog(path, key=KEY) as log:
        recorder = log.record("unlucky")
        stage(recorder, "preprocess")
        with disk_full_after(path, more), pytest.raises(EvidenceError, match="file too large"):
            stage(recorder, "infer")
        with pytest.raises(EvidenceError, match="evidence is required"):
            recorder.close()
        recorder.fail("INTERNAL")
        request(log, "lucky")
    found = verify(path, key=KEY)
    assert found.ok, found.problem
    assert (found.closed, found.failed, found.gaps, found.lost, found.open_count) == (1, 1, 1, 1, 0)
    [gap] = [entry.step for entry in entries(path) if entry.step.kind == "gap"]
    assert gap.facts == {"steps": 1, "anchors": 0, "requests": ["unlucky"]}
    [taken] = records(path, "unlucky")
    assert taken[-1].step.facts == {"reason": "INTERNAL", "lost": 1}


def test_every_byte_at_which_a_disk_can_be_full(tmp_path: Path) -> None:
    """A stretch of any length stays in the file, told by a torn step; a line that only lacks its end is an entry."""
    path = tmp_path / "log"
    with EvidenceLog(path) as log:
        request(log, "first")
        length = path.stat().st_size
        stage(log.record("measured"), "infer")
        length = path.stat().st_size - length
        torn = lost = 0
        for more in range(0, length + 40, 3):
            recorder = log.record("x", Level.BEST_EFFORT)
            with disk_full_after(path, more):
                stage(recorder, "infer")
                stage(recorder, "infer")
                stage(recorder, "infer")
            record = recorder.close()
            lost += record.lost
            assert not record.proven
    found = verify(path)
    assert found.ok, found.problem
    torn = sum(entry.step.kind == "torn" for entry in entries(path))
    assert (found.torn, found.lost) == (torn, lost)
    assert torn > 100


def test_an_exception_between_the_model_and_the_append(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EvidenceLog(tmp_path / "log") as log:
        with pytest.raises(RuntimeError), log.record("one") as recorder:  # noqa: PT012
            stage(recorder, "infer")
            raise RuntimeError("the device is gone")
        with monkeypatch.context() as patched:
            patched.setattr(log_module.Entry, "of", _fails)
            recorder = log.record("two")
            with pytest.raises(ZeroDivisionError):
                stage(recorder, "infer")
        with pytest.raises(EvidenceError, match="evidence is required"):
            recorder.close()
        request(log, "three")
    kinds = [(entry.step.kind, entry.step.request) for entry in entries(tmp_path / "log")]
    assert kinds[1:4] == [("stage", "one"), ("fail", "one"), ("gap", "")]
    [failed] = records(tmp_path / "log", "one")
    assert failed[-1].step.facts == {"reason": "RuntimeError", "lost": 0}
    assert verify(tmp_path / "log").lost == 1


def _fails(*_: object) -> None:
    raise ZeroDivisionError


def test_a_request_that_never_ended_shows(tmp_path: Path) -> None:
    with EvidenceLog(tmp_path / "log") as log:
        stage(log.record("gone"), "infer")
        request(log, "fine")
    found = verify(tmp_path / "log")
    assert found.ok
    assert (found.open_requests, found.open_count) == (("gone",), 1)


def test_forcing_to_the_disk_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step is in the file, and the request is not proven: a power failure could take it."""
    with EvidenceLog(tmp_path / "log", sync=True) as log:
        recorder = log.record("one", Level.BEST_EFFORT)
        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", _no_disk)
            stage(recorder, "infer")
        stage(recorder, "postprocess")
        assert not recorder.close().proven
    found = verify(tmp_path / "log")
    assert found.ok
    assert (found.lost, found.gaps, found.closed) == (1, 1, 1)


def _no_disk(_: int) -> None:
    raise OSError(5, "Input/output error")


def test_an_anchor_does_not_outlive_its_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a power failure the log would be shorter than the anchor says, as if somebody had cut it."""
    done: list[str] = []
    force = os.fsync

    def fsync(descriptor: int) -> None:
        force(descriptor)
        done.append("disk")

    monkeypatch.setattr(os, "fsync", fsync)
    with EvidenceLog(
        tmp_path / "log", anchor=lambda anchor: done.append(f"anchor {anchor.length}"), anchor_every=4
    ) as log:
        request(log, "one")
    assert done == ["disk", "anchor 1", "disk", "anchor 5", "disk", "anchor 8"]


def test_an_anchor_that_fails_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_: object) -> None:
        raise ConnectionError("secret address")

    with caplog.at_level(logging.ERROR), EvidenceLog(tmp_path / "log", anchor=refuse) as log:
        request(log, "one")
    assert "an anchor of log could not be set (ConnectionError)" in caplog.text
    assert "secret address" not in caplog.text
    assert verify(tmp_path / "log").lost_anchors == 1


def test_off_writes_nothing(tmp_path: Path) -> None:
    with EvidenceLog(tmp_path / "log") as log, log.record("one", Level.OFF) as recorder:
        stage(recorder, "infer")
        assert recorder.close().metadata() == ()
    assert verify(tmp_path / "log").entries == 2
    assert [Level.of(number) for number in range(4)] == [Level.OFF, Level.OFF, Level.BEST_EFFORT, Level.REQUIRED]


def test_a_full_disk_is_said_once_a_gap(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "log"
    with EvidenceLog(path) as log:
        for _ in range(2):
            with disk_full_after(path, 0):
                for number in range(5):
                    request(log, f"request-{number}", Level.BEST_EFFORT)
            request(log, "fine")
    said = [record.getMessage() for record in caplog.records]
    assert said == ["evidence is lost: evidence cannot be written to log: file too large"] * 2
    assert verify(path).lost == 2 * 5 * 6


def test_best_effort_goes_on_without_a_canonical_form(tmp_path: Path) -> None:
    with EvidenceLog(tmp_path / "log") as log:
        recorder = log.record("one", Level.BEST_EFFORT)
        stage(recorder, "infer", provider=object())
        stage(recorder, "postprocess")
        record = recorder.close()
    assert (record.lost, record.proven) == (1, False)
    assert verify(tmp_path / "log").gaps == 1


# ----------------------------------------------------------------------------------------------------------------------
# Restarts


@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "keyed"])
def test_a_restart_goes_on_with_the_chain(tmp_path: Path, key: Key | None) -> None:
    for number in range(3):
        with EvidenceLog(tmp_path / "log", key=key) as log:
            request(log, f"request-{number}")
    found = verify(tmp_path / "log", key=key)
    assert found.ok
    assert (found.begun, found.closed, found.entries) == (3, 3, 24)


def test_every_place_at_which_a_process_can_die(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is cut off: what is torn stays, a step tells how much, and the chain goes on."""
    whole = b"".join(chain_of_20(tmp_path / "whole"))
    path = tmp_path / "log"
    for length in range(1, len(whole), 101):
        path.write_bytes(whole[:length])
        with EvidenceLog(path) as log:
            request(log, "after the crash")
        assert path.read_bytes().startswith(whole[:length])
        found = verify(path)
        assert found.ok, (length, found.problem)
        half = whole[:length].rpartition(b"\n")[2]
        steps = [entry.step for entry in entries(path)]
        torn = [step.facts["bytes"] for step in steps if step.kind == "torn"]
        assert torn == ([len(half)] if half else [])
        assert found.closed == whole[:length].count(b'"kind":"s:close"') - (b'"kind":"s:close"' in half) + 1
    assert "bytes that are no entry: a crash" in caplog.text


WRITER = """
import sys
from tests.chain.support import EvidenceLog, request
with EvidenceLog(sys.argv[1]) as log:
    while True:
        request(log, "x")
        print(flush=True)
"""


def test_a_process_that_was_killed_while_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "log"
    for run in range(1, 4):
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]) as writer:
            assert writer.stdout is not None
            for _ in range(20 * run):
                assert writer.stdout.readline()
            # It holds the log: nobody else gets it while it lives.
            with pytest.raises(EvidenceError, match="is open already"):
                EvidenceLog(path)
            writer.kill()
        found = verify(path, require_end=False)
        assert found.begun == run
        assert found.closed >= sum(20 * earlier for earlier in range(1, run + 1))
        assert found.problem is None or "expected JSON" in found.problem.reason  # killed within a line
    EvidenceLog(path).close()
    assert verify(path).ok


def test_a_line_that_lacks_only_its_end_is_an_entry(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = chain_of_20(path)
    path.write_bytes(b"".join(lines[:5]).rstrip(b"\n"))
    with EvidenceLog(path) as log:
        request(log, "next")
    assert verify(path).ok
    assert sum(entry.step.kind == "torn" for entry in entries(path)) == 0


def test_what_was_torn_cannot_be_changed(tmp_path: Path) -> None:
    path = tmp_path / "log"
    lines = chain_of_20(path)
    path.write_bytes(b"".join(lines[:5]) + lines[5][:40])
    EvidenceLog(path).close()
    data = path.read_bytes()
    for new in (data.replace(lines[5][:40] + b"\n", b""), data.replace(lines[5][:40], lines[5][:39])):
        path.write_bytes(new)
        problem = verify(path).problem
        assert problem is not None
        assert problem.position == 5


def test_logs_that_cannot_go_on(tmp_path: Path) -> None:
    path = tmp_path / "log"
    chain_of_20(path, KEY)
    for key, reason in ((None, "has a key"), (Key(b"the key of somebody else"), "has another key than")):
        with pytest.raises(EvidenceError, match=reason):
            EvidenceLog(path, key=key)
    chain_of_20(tmp_path / "plain")
    with pytest.raises(EvidenceError, match="has no key"):
        EvidenceLog(tmp_path / "plain", key=KEY)
    path.write_bytes(b"somebody else's file\n")
    with pytest.raises(EvidenceError, match="is no evidence log"):
        EvidenceLog(path)
    assert path.read_bytes() == b"somebody else's file\n"


def test_a_key_shows_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "a secret of more than sixteen bytes"
    (tmp_path / "key").write_text(f"{secret}\n")
    key = Key.read(tmp_path / "key")
    monkeypatch.setenv("PROTOCONTRACT_EVIDENCE_KEY", secret)
    assert Key.from_environment().id == key.id  # type: ignore[union-attr]
    monkeypatch.delenv("PROTOCONTRACT_EVIDENCE_KEY")
    assert Key.from_environment() is None
    chain_of_20(tmp_path / "log", key)
    assert secret not in f"{key!r} {key} {(tmp_path / 'log').read_text()}"
    with pytest.raises(EvidenceError, match="a key of 5 bytes; expected at least 16"):
        Key(b"short")
    assert stat.S_IMODE((tmp_path / "log").stat().st_mode) & 0o007 == 0
