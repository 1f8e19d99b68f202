"""``protocontract lint``: mistakes as compiling reports them, and what contracts leave out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from protocontract.cli import main
from protocontract_ci.lint.checks import IDS

HEAD = """syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
"""
#: What is left out -> a file that does so, and the line that is named.
LEFT_OUT = {
    "no-contract": ("message Item {\n  string id = 1 [(buf.validate.field).string.min_len = 1];\n}\n", 5),
    "no-version": (
        'message Item {\n  option (protocontract.v1.contract) = {owner: "a@acme.example"};\n  string id = 1;\n}\n', 6,
    ),
    "no-owner": (
        'message Item {\n  option (protocontract.v1.contract) = {version: "1.0.0"};\n  string id = 1;\n}\n', 6,
    ),
    "no-dead-letter-topic": (
        'message Item {\n  option (protocontract.v1.contract) = {version: "1.0.0" owner: "a@b.c" topic: "t"};\n'
        "  string id = 1;\n}\n", 6,
    ),
}  # fmt: skip


def lint(folder: Path, body: str, *options: str) -> int:
    (folder / "shop.proto").write_text(HEAD + body)
    return main(["lint", str(folder), *options])


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_is_left_out_is_told_with_its_place(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body, line = LEFT_OUT[name]
    assert lint(tmp_path, body, "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert [(each["id"], each["line"]) for each in found["warnings"]] == [(name, line)]
    assert found["errors"] == []
    assert lint(tmp_path, body, "--strict") == 1
    assert f"shop.proto:{line}:" in capsys.readouterr().out
    assert main(["explain", name]) == 0


def test_what_is_left_to_protovalidate_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = Path(__file__).parents[2] / "compiler" / "cases" / "cel-untranslatable" / "case.proto"
    assert main(["lint", str(source), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "left-to-protovalidate" in {each["id"] for each in found["warnings"]}
    assert {*LEFT_OUT, "left-to-protovalidate"} == set(IDS)


def test_mistakes_are_those_of_compiling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = "message Item {\n  string id = 1 [(buf.validate.field).string = {len: 19 max_len: 16}];\n}\n"
    assert lint(tmp_path, body) == 1
    told = capsys.readouterr().out
    assert "shop.proto:6:" in told
    assert "error[rule-contradiction]: `string.len = 19` is above `string.max_len = 16`" in told
    assert lint(tmp_path, body, "--format", "github") == 1
    assert "::error file=" in capsys.readouterr().out


def test_nothing_is_left_out_of_ours(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    assert main(["lint", "contracts/acme", "-I", "contracts", "--strict"]) == 0
    assert capsys.readouterr().out == "0 errors, 0 warnings\n"


def test_parts_of_contracts_need_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    body = (
        'message Item {\n  option (protocontract.v1.contract) = {version: "1.0.0" owner: "a@b.c"};\n'
        "  Part part = 1;\n}\n"
        "message Part { string id = 1 [(buf.validate.field).string.min_len = 1]; }\nmessage Free { string id = 1; }\n"
    )
    assert lint(tmp_path, body, "--strict") == 0


def test_sources_that_cannot_be_read_are_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint(tmp_path, "message Item {") == 2
    assert "shop.proto" in capsys.readouterr().err
