"""``protocontract evidence verify`` and ``show``: what they say, and their exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from protocontract.chain import EvidenceLog, Key, Level, anchor_file
from protocontract.cli import main
from tests.chain.support import chain_of_20, request, stage

SECRET = "a secret of more than sixteen bytes"


def test_a_chain_that_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain_of_20(tmp_path / "log")
    assert main(["evidence", "verify", str(tmp_path / "log")]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[:2] == ["✓ The chain holds over 20 entries", "  · 3 requests with all steps"]
    assert "This proves linkage only" in told
    assert "Without a key, whoever can write the file" in told
    assert "Without an anchor" in told


def test_a_chain_that_was_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = chain_of_20(tmp_path / "log")
    (tmp_path / "log").write_bytes(b"".join([*lines[:7], *lines[8:]]))
    assert main(["evidence", "verify", str(tmp_path / "log")]) == 1
    assert (
        "✗ The chain is broken at position 7 (line 8): it has sequence number 8; expected 7" in capsys.readouterr().out
    )
    assert main(["evidence", "verify", str(tmp_path / "log"), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["problem"]["position"] == 7
    assert found["proves"] == "linkage only"


def test_keys_and_anchors(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text(SECRET + "\n")
    path, anchors = str(tmp_path / "log"), str(tmp_path / "anchors")
    with EvidenceLog(path, key=Key.read(tmp_path / "key"), anchor=anchor_file(anchors)) as log:
        request(log, "one")
    assert main(["evidence", "verify", path, "--key-file", str(tmp_path / "key"), "--anchor", anchors]) == 0
    told = capsys.readouterr().out
    assert "2 anchors fit, up to entry 8" in told
    assert "checked" in told
    assert "Without" not in told
    assert main(["evidence", "verify", path]) == 0
    assert "were not checked; give the key" in capsys.readouterr().out
    monkeypatch.setenv("PROTOCONTRACT_EVIDENCE_KEY", "another secret of enough bytes")
    assert main(["evidence", "verify", path]) == 1
    everything = capsys.readouterr()
    assert "position 0 (line 1): its HMAC is not one of the key" in everything.out
    assert SECRET not in everything.out + everything.err
    monkeypatch.setenv("PROTOCONTRACT_EVIDENCE_KEY", "short")
    assert main(["evidence", "verify", path]) == 2
    assert "short" not in capsys.readouterr().err


def test_what_is_missing_shows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "log")
    log = EvidenceLog(path)
    stage(log.record("gone\x1b[2J"), "infer")
    recorder = log.record("gap", Level.BEST_EFFORT)
    stage(recorder, "infer", provider=object())
    recorder.close()
    assert main(["evidence", "verify", path]) == 1
    assert "no end step: the tail was cut off, or the log is still being written (--open)" in capsys.readouterr().out
    log.close()
    assert main(["evidence", "verify", path]) == 0
    told = capsys.readouterr().out
    assert "✗ 1 request without an end: gone�[2J" in told
    assert "✗ 1 request with missing steps" in told
    assert "✗ the log says that 1 step and 0 anchors were lost" in told
    assert main(["evidence", "verify", path, "--complete"]) == 1


class Page(HTMLParser):
    """What a page says, and what it would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.said = ""
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onclick"}

    def handle_data(self, data: str) -> None:
        self.said += data


def test_one_request_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = str(tmp_path / "log"), tmp_path / "out.html"
    name = "größe <script>alert(1)</script>"
    with EvidenceLog(path) as log:
        request(log, "somebody else")
        request(log, name)
    assert main(["evidence", "show", path, name, "--html", str(out)]) == 0
    told = capsys.readouterr().out
    assert "complete" in told.splitlines()[0]
    assert "batch_size 4, provider CPUExecutionProvider" in told
    assert told.count("µs") == 5
    page = Page()
    page.feed(out.read_text(encoding="utf-8"))
    assert "script" not in page.tags
    assert name in page.said
    for expected in ("service:postprocess", "CPUExecutionProvider", "The chain holds over 14 entries", "linkage only"):
        assert expected in page.said
    assert "somebody else" not in page.said
    text = out.read_text(encoding="utf-8")
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert main(["evidence", "show", path, name, "--format", "json"]) == 0
    [record] = json.loads(capsys.readouterr().out)["records"]
    assert [step["name"] for step in record][:2] == ["normalize", "validate"]
    assert main(["evidence", "show", path, "nobody"]) == 2


def test_how_a_request_ended_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = str(tmp_path / "log"), tmp_path / "out.html"
    with EvidenceLog(path) as log:
        stage(log.record("twice"), "infer")
        failing = log.record("twice")
        stage(failing, "infer")
        failing.fail("DEADLINE_EXCEEDED")
        recorder = log.record("gap", Level.BEST_EFFORT)
        stage(recorder, "infer", provider=object())
        recorder.close()
    assert main(["evidence", "show", path, "twice", "--html", str(out)]) == 0
    told = capsys.readouterr().out
    assert "· failed: DEADLINE_EXCEEDED" in told
    assert "· it has no end: what became of it is not proven" in told
    page = out.read_text(encoding="utf-8")
    assert page.count('<b class="missed">') == 2
    assert "Record 2 of 2" in page
    assert main(["evidence", "show", path, "gap"]) == 0
    assert "· closed, but 1 of its steps could not be written" in capsys.readouterr().out


def test_neither_grpc_nor_numpy_is_needed(tmp_path: Path) -> None:
    chain_of_20(tmp_path / "log")
    script = (
        "import sys\nfor name in ('grpc', 'numpy'): sys.modules[name] = None\n"
        f"from protocontract.cli import main\nsys.exit(main(['evidence', 'verify', {str(tmp_path / 'log')!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", script], env={**os.environ, "LC_ALL": "C"}, capture_output=True)
    assert done.returncode == 0, done.stderr
