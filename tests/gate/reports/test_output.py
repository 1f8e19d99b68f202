"""`protocontract gate --format ... --output ...`: several formats at once, and what goes where."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from protocontract.cli import main
from tests.gate.scenarios import CASES

CASE = CASES / "36-min-len-raised"


def gate(*options: str, case: Path = CASE) -> int:
    states = ["--before", str(case / "before"), "--after", str(case / "after")]
    return main(["gate", *states, "--modules", str(case / "downstream"), *options])


def test_several_files_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "reports"
    names = {"sarif": "gate.sarif", "gitlab": "quality.json", "junit": "gate.xml", "markdown": "comment.md"}
    assert gate(*(word for kind, name in names.items() for word in ("--output", f"{kind}={out / name}"))) == 1
    assert "1 of 3 modules has not adapted" in capsys.readouterr().out
    assert json.loads((out / "gate.sarif").read_text())["version"] == "2.1.0"
    assert json.loads((out / "quality.json").read_text())[0]["fingerprint"]
    assert ElementTree.parse(out / "gate.xml").getroot().tag == "testsuites"
    assert sorted(path.name for path in out.iterdir()) == sorted(names.values())


def test_github_writes_the_summary_of_the_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("of another command\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert gate("--format", "github") == 1
    assert capsys.readouterr().out.startswith("::error file=")
    assert summary.read_text().startswith("of another command\n## Contract gate: 1 of 3 modules has not adapted")
    before = summary.read_text()
    gate("--format", "json")
    assert summary.read_text() == before


def test_paths_count_from_the_top_of_the_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    inside = tmp_path / "data platform"
    for folder in ("before", "after", "downstream"):
        (inside / folder).mkdir(parents=True)
        for file in (CASE / folder).iterdir():
            if file.is_file():
                (inside / folder / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(inside)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    assert (
        main(["gate", "--before", "before", "--after", "after", "--modules", "downstream", "--format", "github"]) == 1
    )
    assert "::error file=data platform/downstream/legacy.py,line=7," in capsys.readouterr().out
    assert os.getcwd().endswith("data platform")


@pytest.mark.parametrize("value", ["sarif", "sarif=", "word=a.json"])
def test_an_output_that_is_none_is_refused(value: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate("--output", value) == 2
    assert "expected FORMAT=FILE with FORMAT one of text, json, sarif" in capsys.readouterr().err


def test_values_are_shown_to_those_who_ask(capsys: pytest.CaptureFixture[str]) -> None:
    gate("--show-values")
    assert 'code = "AB"' in capsys.readouterr().out
