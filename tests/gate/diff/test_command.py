"""The command: what it reads, what it prints, how it ends."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from protocontract.cli import main
from protocontract_compiler import protoc
from protocontract_compiler.diagnostics import Diagnostics
from tests.gate.scenarios import CASES

ORDER = """\
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
message Order {
  option (protocontract.v1.contract) = {version: "%s"};
  string id = 1;
  string note = 2 [(buf.validate.field).string.max_len = %d];
%s}
"""


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two folders, before and after, in the working directory."""
    monkeypatch.chdir(tmp_path)
    write("before", ORDER % ("1.0.0", 200, "  int32 qty = 3;\n"))
    write("after", ORDER % ("1.1.0", 20, "  int32 count = 3;\n  optional string gift = 4;\n"))
    return tmp_path


def write(folder: str, text: str, name: str = "order.proto") -> Path:
    path = Path(folder) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_text(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "before", "after"]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "shop.v1.Order 1.0.0 -> 1.1.0"
    assert [line.split()[:3] for line in out[1:5]] == [
        ["✗", "breaking", "qty"], ["·", "added", "gift"], ["·", "tightened", "note@string.max_len"],
        ["✗", "neutral", "@version"],
    ]  # fmt: skip
    assert out[3].split()[3:] == ["200", "->", "20", "after/order.proto:8", "writers", "must", "cope"]
    assert out[1].rstrip().endswith("  breaks JSON, Python, TypeScript")
    assert out[5].startswith("4 changes: 1 breaking, 1 tightened, 1 added, 1 neutral; 2 left to settle")
    assert "expected 2.0.0, got 1.1.0" in out[-1]


def test_json(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "before", "after", "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert [(c["path"], c["direction"], c["kind"]) for c in report["changes"]] == [
        ("shop.v1.Order.qty", "breaking", "renamed_or_reused"),
        ("shop.v1.Order.gift", "added", "field_added"),
        ("shop.v1.Order.note@string.max_len", "tightened", "rule_changed"),
        ("shop.v1.Order@version", "neutral", "version_bump_missing"),
    ]
    renamed = report["changes"][0]
    assert (renamed["from"], renamed["to"], renamed["step"]) == ("qty", "count", "qty->count")
    assert renamed["after"] == {"file": "after/order.proto", "line": 9, "column": 3}
    assert renamed["compatibility"] == {
        "wire": "same", "json": "breaking", "python": "breaking", "typescript": "breaking"
    }  # fmt: skip
    assert report["versions"] == [
        {"message": "shop.v1.Order", "from": "1.0.0", "to": "1.1.0", "demanded": "major"}
    ]  # fmt: skip
    assert report["summary"] == {"breaking": 1, "tightened": 1, "loosened": 0, "added": 1, "neutral": 1}


def test_markdown(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "before", "after", "--format", "markdown"]) == 1
    out = capsys.readouterr().out
    assert "| `shop.v1.Order` | 1.0.0 to 1.1.0 | major |" in out
    assert "### Breaking\n\n- `shop.v1.Order.qty`: renamed to count" in out
    assert "- `shop.v1.Order.note@string.max_len`: 200 -> 20, after/order.proto:8" in out


def test_nothing_changed(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "before", "before"]) == 0
    assert capsys.readouterr().out == "no changes\n"


@pytest.mark.parametrize(
    ("on", "expected"), [("never", 0), ("demands", 1), ("breaking", 1), ("tightened", 1), ("any", 1)]
)
def test_fail_on(folders: Path, on: str, expected: int) -> None:
    assert main(["diff", "before", "after", "--fail-on", on]) == expected


@pytest.mark.parametrize(("on", "expected"), [("demands", 0), ("breaking", 0), ("tightened", 1), ("any", 1)])
def test_fail_on_a_tighter_rule(folders: Path, on: str, expected: int) -> None:
    write("after", ORDER % ("2.0.0", 20, "  int32 qty = 3;\n"))
    assert main(["diff", "before", "after", "--fail-on", on]) == expected


def test_single_files_are_two_versions_of_one(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = write("", ORDER % ("1.0.0", 20, ""), "old.proto")
    new = write("", ORDER % ("1.0.1", 20, "  // A comment.\n"), "new.proto")
    assert main(["diff", str(old), str(new)]) == 0
    assert "2 changes: 2 neutral" in capsys.readouterr().out


def test_descriptor_sets(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side in ("before", "after"):
        sources = protoc.find_sources([Path(side)], [Path(side)])
        Path(f"{side}.binpb").write_bytes(protoc.describe(sources, Diagnostics()).SerializeToString())
    assert main(["diff", "before.binpb", "after.binpb", "--format", "json"]) == 1
    by_sets = json.loads(capsys.readouterr().out)
    assert main(["diff", "before", "after", "--format", "json"]) == 1
    by_folders = json.loads(capsys.readouterr().out)
    shown = [
        [(c["path"], c["direction"], c["after"]["line"]) for c in report["changes"]] for report in (by_sets, by_folders)
    ]
    assert shown[0] == shown[1]
    # Mixed, as in a pull request that compares with a published image.
    assert main(["diff", "before.binpb", "after"]) == 1


def test_imports_that_start_at_a_folder_inside(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A whole repository: where imports start is told by the packages of its files."""
    for side, length in (("one", 5), ("two", 4)):
        write(
            f"{side}/proto/shop/v1",
            'syntax = "proto3";\npackage shop.v1;\nimport "shop/v1/part.proto";\nmessage Whole { Part part = 1; }\n',
            "whole.proto",
        )
        write(
            f"{side}/proto/shop/v1",
            'syntax = "proto3";\npackage shop.v1;\nimport "buf/validate/validate.proto";\n'
            f"message Part {{ string id = 1 [(buf.validate.field).string.max_len = {length}]; }}\n",
            "part.proto",
        )
    assert main(["diff", "one", "two", "--rules", "table"]) == 0
    assert "id@string.max_len  5 -> 4  two/proto/shop/v1/part.proto:4" in capsys.readouterr().out


def test_git_refs(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments], check=True, capture_output=True
        )

    write("contracts", Path("before/order.proto").read_text())
    git("init", "-q", "-b", "main")
    git("add", "contracts")
    git("commit", "-q", "-m", "first")
    write("contracts", Path("after/order.proto").read_text())
    assert main(["diff", "main:contracts", "contracts", "--format", "json"]) == 1
    change = json.loads(capsys.readouterr().out)["changes"][0]
    assert change["before"] == change["after"] == {"file": "contracts/order.proto", "line": 9, "column": 3}
    assert main(["diff", "main:nowhere", "contracts"]) == 2
    assert "main:nowhere" in capsys.readouterr().err
    assert main(["diff", "gone:contracts", "contracts"]) == 2


def test_what_cannot_be_read(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "before", "nowhere"]) == 2
    assert "nowhere: no such file or folder" in capsys.readouterr().err
    write("after", "syntax = 'proto3'; message {")
    assert main(["diff", "before", "after"]) == 2
    assert "after/order.proto:1:28: error[proto]" in capsys.readouterr().err
    Path("noise.binpb").write_bytes(b"\xff\xff")
    assert main(["diff", "before", "noise.binpb"]) == 2
    assert "noise.binpb: not a FileDescriptorSet; expected the output of" in capsys.readouterr().err
    Path("empty").mkdir()
    assert main(["diff", "before", "empty"]) == 2
    assert "empty: no .proto file" in capsys.readouterr().err


def test_another_validate_proto_is_read_as_the_installed_one(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = (protoc.includes_folder() / "buf/validate/validate.proto").read_text()
    write(
        "before",
        other.replace("message FieldRules {", "message Odd {}\nmessage FieldRules {"),
        "buf/validate/validate.proto",
    )
    assert main(["diff", "before", "after"]) == 1
    captured = capsys.readouterr()
    assert "note: before: buf/validate/validate.proto was read as the installed one, which differs" in captured.err
    assert "note@string.max_len" in captured.out


def test_a_mistake_in_a_rule_hinders_nothing(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that does not compile is told, and what it means is unknown: breaking."""
    rule = 'option (buf.validate.message).cel = {id: "o" expression: "%s"};\n'
    write("before", ORDER % ("1.0.0", 20, rule % "this.id != ''"))
    write("after", ORDER % ("2.0.0", 20, rule % "this.ident != ''"))
    assert main(["diff", "before", "after"]) == 1
    captured = capsys.readouterr()
    assert "breaking   @cel[o]" in captured.out
    assert "after/order.proto:9" in captured.err
    assert "error[cel]" in captured.err


def test_rules_by_the_table_alone(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "before", "after", "--rules", "table", "--format", "json"]) == 1
    change = json.loads(capsys.readouterr().out)["changes"][2]
    assert (change["path"], change["direction"], change["proof"]) == (
        "shop.v1.Order.note@string.max_len", "tightened", "table"
    )  # fmt: skip


def test_the_cases_by_hand(capsys: pytest.CaptureFixture[str]) -> None:
    case = CASES / "own" / "acknowledge-new-fields"
    assert main(["diff", str(case / "before"), str(case / "after")]) == 0
    assert "every module must use it or say that it ignores it" in capsys.readouterr().out
