"""Evidence of a service whose disk is full, whose clock steps back, and whose callers choose their names."""

from __future__ import annotations

import asyncio
import errno
import os
import time
from pathlib import Path
from typing import Any

import pytest

from protocontract.chain import EvidenceLog, verify
from protocontract.chain.verify import records
from protocontract.cli import main as command
from protocontract.serving import ModelSpec
from tests.serving.serve import lab
from tests.serving.serve.lab import Engines, message, moods, refusal, scaled, serving, steps, trailers


class Full:
    """``os.write``, with no room on the disk for one of the lines that a log writes."""

    def __init__(self, log: EvidenceLog) -> None:
        self.file = os.stat(log.path).st_ino
        self.write = os.write
        self.left: int | None = None

    def __call__(self, descriptor: int, data: bytes) -> int:
        if self.left is not None and os.fstat(descriptor).st_ino == self.file:
            self.left -= 1
            if self.left < 0:
                raise OSError(errno.ENOSPC, "No space left on device")
        return self.write(descriptor, data)


def test_required_evidence_that_stops_at_any_step_answers_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the six steps of a request each may be the first that finds no room, the last one when the model has run and
    the response is there."""
    model = [ModelSpec("moods", "1", str(moods(tmp_path / "moods.onnx")))]
    path = tmp_path / "evidence.jsonl"

    async def main() -> None:
        with EvidenceLog(path) as log:
            disk = Full(log)
            monkeypatch.setattr(os, "write", disk)
            async with serving("Moods", model, steps=steps(), evidence=log) as (_, call):
                for room in range(6):
                    disk.left = room
                    code, reason, _, text = await refusal(call(message("Saying", text="so.", request_id=f"r-{room}")))
                    assert (code, reason) == ("INTERNAL", "EVIDENCE"), room
                    assert "could not be written" in text
                    disk.left = None
                    told = await trailers(call(message("Saying", text="so.", request_id=f"after-{room}")))
                    assert "protocontract-evidence" in told
            monkeypatch.undo()

    asyncio.run(main())
    found = verify(path)
    assert (found.problem, found.ended) == (None, True)
    assert found.closed == 6
    assert found.lost >= 6
    # The gap is told, and no request that failed looks proven.
    for room in range(6):
        for entries in records(path, f"r-{room}"):
            assert entries[-1].step.kind != "close"


def test_a_clock_that_steps_back_breaks_no_chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = [ModelSpec("same", "1", str(scaled(tmp_path / "same.onnx")))]
    path = tmp_path / "evidence.jsonl"
    moments = iter([10**18 - each * 10**15 for each in range(200)])

    async def main() -> None:
        monkeypatch.setattr(time, "time_ns", lambda: next(moments))
        with EvidenceLog(path) as log:
            async with serving("Echo", model, evidence=log) as (_, call):
                for number in range(3):
                    await call(lab.rows(number, request_id=f"r-{number}"))
        monkeypatch.undo()

    asyncio.run(main())
    found = verify(path)
    assert (found.ok, found.closed) == (True, 3)


def test_names_that_callers_choose_are_text_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the report for a browser, and on a terminal; also of a request that took no time that a clock can tell."""
    name = "\"><script>alert(1)</script>&\x1b[31m\n<img src=x onerror='alert(2)'>"
    path, page = tmp_path / "evidence.jsonl", tmp_path / "page.html"
    with EvidenceLog(path) as log, log.record(name) as recorder:
        recorder.step("<i>infer", module="m:<u>", facts={"<b>": "<s>"})
    assert command(["evidence", "show", str(path), name, "--html", str(page)]) == 0
    told = page.read_text()
    for each in ("<script", "<img", "<i>", "<u>", "<s>", "onerror='"):
        assert each not in told
    assert "\x1b" not in capsys.readouterr().out
    assert command(["evidence", "show", str(path), name, "--format", "json"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_request_that_is_given_up_has_an_end_and_no_proof(tmp_path: Path) -> None:
    """By its caller, in the model; by its deadline there; and one that is answered beside them in the same batch."""
    model = [ModelSpec("same", "1", str(scaled(tmp_path / "same.onnx")))]
    path = tmp_path / "evidence.jsonl"

    async def main() -> None:
        engines = Engines()
        with EvidenceLog(path) as log:
            async with serving("Echo", model, evidence=log, open_model=engines) as (server, call):
                held = engines.only
                held.go.clear()
                held.begun.clear()
                gone: Any = call(lab.rows(1, request_id="gone"))
                late = asyncio.ensure_future(refusal(call(lab.rows(2, request_id="late"), timeout=1.5)))
                kept = call(lab.rows(3, request_id="kept"))
                assert await asyncio.to_thread(held.begun.wait, 20)
                gone.cancel()
                assert (await late)[0] == "DEADLINE_EXCEEDED"
                held.go.set()
                assert lab.numbers(await kept) == [3]
                assert await server.stop(20) == 0

    asyncio.run(main())
    found = verify(path)
    assert (found.ok, found.open_requests, found.closed, found.failed) == (True, (), 1, 2)
    assert {each[0].step.request: each[-1].step.kind for each in records(path, None)} == {
        "gone": "fail", "late": "fail", "kept": "close",
    }  # fmt: skip
