"""The command: reports, files, patches, exit codes."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from protocontract.cli import main
from protocontract_compiler.migrate.command import migrate_command

EXACT = """\
syntax = "proto3";
package a.v1;
import "validate/validate.proto";
message A { string f = 1 [(validate.rules).string.min_len = 2]; }
"""
INEXACT = EXACT.replace("min_len = 2", "email = true").replace("a.v1", "b.v1")


def test_a_report_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.proto").write_text(
        EXACT.replace("message", 'import "google/protobuf/any.proto"; // unused\nmessage')
    )
    assert migrate_command([str(tmp_path)]) == 0
    assert capsys.readouterr() == ("1 annotation turned in 1 file, 0 left\n", "")
    (tmp_path / "a.proto").write_text(EXACT)
    assert migrate_command([str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["a.proto"]
    assert (tmp_path / "a.proto").read_text() == EXACT


def test_new_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "a.proto").write_text(EXACT)
    (tmp_path / "in" / "b.proto").write_text(INEXACT)
    assert migrate_command([str(tmp_path / "in"), "--output", str(tmp_path / "out")]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("b.proto:4  stays  f: string.email  buf.validate takes the addresses of ")
    assert captured.out.endswith(f"1 annotation turned in 1 file, 1 left; written to {tmp_path / 'out'}\n")
    written = [path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.proto")]
    assert written == ["deep/a.proto"]
    assert migrate_command([str(tmp_path / "in"), "--accept", "all"]) == 0


def test_a_patch_that_git_applies(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = EXACT.rstrip("\n")  # without a line feed at its end
    (tmp_path / "a.proto").write_text(text)
    assert migrate_command([str(tmp_path), "--patch"]) == 0
    captured = capfd.readouterr()
    assert "1 annotation turned" in captured.err
    subprocess.run(["git", "apply", "-"], input=captured.out, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "a.proto").read_text() == text.replace("validate/v", "buf/validate/v", 1).replace(
        "(validate.rules)", "(buf.validate.field)"
    )


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "b.proto").write_text(INEXACT)
    assert migrate_command([str(tmp_path), "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["files"] == [{"file": "b.proto", "turned": 0, "changed": False}]
    assert [(each["kind"], each["line"], each["what"]) for each in report["findings"]] == [
        ("left", 4, "f: string.email")
    ]


def test_a_result_that_does_not_compile_is_not_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.proto").write_text(
        EXACT.replace("min_len = 2", "min_len = 2, (validate.rules).string.max_len = 1")
    )
    assert migrate_command([str(tmp_path / "in"), "--output", str(tmp_path / "out")]) == 2
    captured = capsys.readouterr()
    assert "a.proto:4:" in captured.err
    assert "the result does not compile, nothing was written" in captured.out
    assert not (tmp_path / "out").exists()


def test_imports_that_are_not_there_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.proto").write_text(EXACT.replace("package a.v1;", 'package a.v1; import "other/x.proto";'))
    assert migrate_command([str(tmp_path)]) == 0
    assert "note: the result is not compiled: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "error: nowhere: no such file or folder"),
        (["."], "error: no .proto file in ."),
        (["a", "--rules", "none.json"], "error: none.json: no such file or directory"),
        (["a", "--rules", "bad.json"], "error: bad.json: not the rules of a schema; "),
        (["a", "b", "--rules", "bad.json"], "error: --rules is about one schema; expected one .proto file"),
    ],
)
def test_what_cannot_be_read(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if arguments != ["."]:
        for name in "ab":
            Path(name).mkdir()
            Path(name, f"{name}.proto").write_text(EXACT.replace("a.v1", f"{name}.v1"))
        Path("bad.json").write_text("{}")
    assert main(["migrate", *arguments]) == 2
    assert said in capsys.readouterr().err
