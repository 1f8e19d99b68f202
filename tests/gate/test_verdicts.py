"""The gate's verdicts on its scenarios: verdict and lines of every module, through the command."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from protocontract.cli import main
from protocontract_ci.meaning.judges import Judges
from protocontract_ci.sources import read
from protocontract_ci.usage.typescript.prepare import ready
from tests.gate.scenarios import CASES

#: Those that were given, and those of our own: further forms of use and kinds of change.
FOLDERS = (CASES, CASES.with_name("gate_own"))
SCENARIOS = sorted(
    path.parent for folder in FOLDERS for path in folder.glob("*/expect.json") if (path.parent / "downstream").is_dir()
)


def gate(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    """Exit code and answer of the gate on a scenario's folder."""
    states = ("--before", str(folder / "before"), "--after", str(folder / "after"))
    code = main(["gate", *states, "--modules", str(folder / "downstream"), "--format", "json", *options])
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, answer


@pytest.mark.parametrize("folder", SCENARIOS, ids=lambda folder: folder.name)
def test_verdicts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, answer = gate(folder, capsys)
    expected = json.loads((folder / "expect.json").read_text())["modules"]
    found = {f"downstream/{module['module']}": module for module in answer["modules"]}
    for name, want in expected.items():
        if name.endswith((".ts", ".mts", ".cts")) and not ready():
            continue
        got = found[name]
        assert got["verdict"] == want["verdict"], (name, got)
        assert set(want["lines"]) <= set(got["lines"]), (name, got)
        assert set(got["lines"]) <= {*want["lines"], *want.get("related", ())}, (name, got)
    changes = {(change["path"], change["direction"]) for change in answer["changes"]}
    wanted_changes = json.loads((folder / "expect.json").read_text())["changes"]
    assert {(change["path"], change["direction"]) for change in wanted_changes} <= changes
    if any(module["verdict"] == "not_adapted" for module in found.values()):
        assert code == 1


def test_a_witness_is_a_message_that_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    _, answer = gate(CASES / "36-min-len-raised", capsys)
    (legacy,) = [module for module in answer["modules"] if module["module"] == "legacy.py"]
    assert legacy["proof"] == "witness"
    assert legacy["witness"]["message"] == "shop.v1.Item"
    # It is made up, and says so; the validators of both states say what it claims.
    assert legacy["witness"]["synthetic"] is True
    data = base64.b64decode(legacy["witness"]["data"])
    before, after = (
        Judges(read(str(CASES / "36-min-len-raised" / side))).accepts("shop.v1.Item", data)
        for side in ("before", "after")
    )
    assert (before, after, legacy["witness"]["accepted"]) == (True, False, "before")


def test_nothing_is_run_where_that_is_forbidden(capsys: pytest.CaptureFixture[str]) -> None:
    _, answer = gate(CASES / "36-min-len-raised", capsys, "--no-exec")
    verdicts = {module["module"]: (module["verdict"], module["proof"]) for module in answer["modules"]}
    # What writes the field cannot be shown to keep the rule: closed, and said.
    assert verdicts["modern.py"] == ("not_adapted", "unresolved")
    assert verdicts["pick.py"][0] == "unaffected"


def test_roles_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    _, answer = gate(CASES / "24-default-removed", capsys, "--no-exec")
    roles = {module["module"]: module["role"] for module in answer["modules"] if module["findings"]}
    assert roles["loop.py"] == "reader"
