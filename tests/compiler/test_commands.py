"""`protocontract compile` and `protocontract includes`, from an empty folder."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from protocontract.cli import main
from protocontract_compiler import protoc
from protocontract_compiler.commands import compile_command, includes_command
from protocontract_compiler.diagnostics import Diagnostics, Stopped

GOOD = """\
syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
message Order { string id = 1 [(buf.validate.field).string.min_len = 1]; }
"""
BAD = """\
syntax = "proto3";
package shop.v1;
import "protocontract/v1/contract.proto";
message Refund {
  int32 id = 1 [(protocontract.v1.field).text.trim = true];
  option (protocontract.v1.contract).version = "1";
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "protos/shop/v1").mkdir(parents=True)
    (tmp_path / "protos/shop/v1/order.proto").write_text(GOOD)
    return tmp_path


def _files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compile_command(["protos", "--out", "gen"]) == 0
    assert _files(folder / "gen") == {
        "shop/v1/order_pb2.py", "shop/v1/order_pb2.pyi", "shop/v1/order_contract.py",
        "buf/validate/validate_pb2.py", "buf/validate/validate_pb2.pyi",
    }  # fmt: skip
    assert capsys.readouterr().out == "1 .proto file, 5 files written to gen\n"
    assert not [path for path in folder.iterdir() if path.name.startswith(".protocontract")]


def test_grpc_stubs_come_with_services_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "protos/shop/v1/till.proto").write_text(
        """syntax = "proto3";
        package shop.v1;
        import "shop/v1/order.proto";
        service Till { rpc Ring(Order) returns (Order); }
        """
    )
    assert compile_command(["protos", "--out", "gen", "--grpc"]) == 0
    assert {name for name in _files(folder / "gen") if name.endswith("_grpc.py")} == {"shop/v1/till_pb2_grpc.py"}
    assert capsys.readouterr().out == "2 .proto files, 8 files written to gen\n"
    code = "import grpc; from shop.v1 import till_pb2_grpc as s; s.TillStub(grpc.insecure_channel('a:1')).Ring"
    subprocess.run([sys.executable, "-c", code], cwd=folder / "gen", check=True)


def test_grpc_stubs_are_for_python(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "protos", "--out", "gen", "--grpc", "--target", "typescript"]) == 2
    assert "--grpc writes stubs for Python; expected --target python too" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["protos/shop/v1/order.proto", "-I", "protos"],
        ["protos/shop", "-I", "protos"],
        ["protos/shop/v1", "--proto-path", "protos"],
    ],
)
def test_names_start_at_the_import_folder(folder: Path, arguments: list[str]) -> None:
    assert compile_command([*arguments, "--out", "deep/er/gen"]) == 0
    assert "shop/v1/order_contract.py" in _files(folder / "deep/er/gen")


def test_without_rules_no_validate_pb2(folder: Path) -> None:
    (folder / "protos/shop/v1/order.proto").write_text('syntax = "proto3"; message Plain { string id = 1; }')
    assert compile_command(["protos", "--out", "gen"]) == 0
    assert not (folder / "gen/buf").exists()


def test_mistakes_leave_the_output_as_it_was(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compile_command(["protos", "--out", "gen"]) == 0
    before = {name: (folder / "gen" / name).read_bytes() for name in _files(folder / "gen")}
    (folder / "protos/shop/v1/refund.proto").write_text(BAD)
    capsys.readouterr()
    assert compile_command(["protos", "--out", "gen"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "shop/v1/refund.proto:5:17: error[normalizer-type]: `text` does not fit `id`; "
        "expected a string field, got int32\n"
        'shop/v1/refund.proto:6:3: error[contract-version]: "1" is no semantic version; '
        'expected MAJOR.MINOR.PATCH such as "1.4.0"\n'
        "2 errors; nothing was written\n"
    )
    assert {name: (folder / "gen" / name).read_bytes() for name in _files(folder / "gen")} == before


def test_mistakes_create_no_folder(folder: Path) -> None:
    (folder / "protos/shop/v1/refund.proto").write_text(BAD)
    assert compile_command(["protos", "--out", "new/gen"]) == 2
    assert not (folder / "new").exists()


def test_mistakes_as_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "protos/shop/v1/refund.proto").write_text(BAD)
    assert compile_command(["protos", "--out", "gen", "--format", "json"]) == 2
    told = json.loads(capsys.readouterr().out)
    assert [(error["id"], error["file"], error["line"], error["column"]) for error in told["errors"]] == [
        ("normalizer-type", "shop/v1/refund.proto", 5, 17),
        ("contract-version", "shop/v1/refund.proto", 6, 3),
    ]
    (folder / "protos/shop/v1/refund.proto").unlink()
    assert compile_command(["protos", "--out", "gen", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["errors"] == []
    assert "shop/v1/order_contract.py" in told["written"]


def test_errors_of_protoc_have_the_same_form(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "protos/shop/v1/order.proto").write_text(GOOD.replace("string id", "strin id"))
    assert compile_command(["protos", "--out", "gen"]) == 2
    assert capsys.readouterr().err.startswith('shop/v1/order.proto:4:17: error[proto]: "strin" is not defined')
    (folder / "protos/shop/v1/order.proto").write_text(GOOD.replace("buf/validate/validate", "buf/validate/validated"))
    assert compile_command(["protos", "--out", "gen"]) == 2
    assert "error[proto]" in capsys.readouterr().err


def test_a_missing_import_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = BAD.replace('import "protocontract/v1/contract.proto";', "")
    text = text.replace("int32 id = 1", "string a = 2 [(buf.validate.field).required = true];\n  int32 id = 1")
    (folder / "protos/shop/v1/refund.proto").write_text(text)
    assert compile_command(["protos", "--out", "gen"]) == 2
    assert capsys.readouterr().err.splitlines()[-3:] == [
        "3 errors; nothing was written",
        'note: shop/v1/refund.proto needs import "buf/validate/validate.proto";',
        'note: shop/v1/refund.proto needs import "protocontract/v1/contract.proto";',
    ]


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("(buf.validate.field).string = {max_lenn: 3}", "; did you mean `max_len`?"),
        ("(buf.validate.field).string.max_lenn = 3", "`max_lenn` is not a field of buf.validate.StringRules; did you"),
        ('(protocontract.v1.field).instant = {timezone: "UTC"}', "; it has zone, order, "),
    ],
)
def test_a_misspelt_name_in_an_option_is_told_what_there_is(
    option: str, hint: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = GOOD.replace("(buf.validate.field).string.min_len = 1", option)
    text = text.replace("message", 'import "protocontract/v1/contract.proto";\nmessage', 1)
    (folder / "protos/shop/v1/order.proto").write_text(text)
    assert compile_command(["protos", "--out", "gen"]) == 2
    assert hint in capsys.readouterr().err


def test_the_log_of_protoc_is_no_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    """Its newer releases log where a file names no syntax, between the errors that they are asked for."""
    log = (
        "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
        "W0000 00:00:1795974831.394062   25403 parser.cc:659] No edition or syntax specified for the proto file: "
        "protos/a.proto. Please use 'edition = \"YYYY\";' to specify a valid edition version.\n"
        "protos/a.proto:4:3: Expected a type.\n"
    )
    diagnostics = Diagnostics()
    with pytest.raises(Stopped):
        protoc._check(subprocess.CompletedProcess([], 1, "", log), diagnostics, [Path("protos")])
    assert diagnostics.render() == "a.proto:4:3: error[proto]: Expected a type\n1 error; nothing was written"
    assert capsys.readouterr().err == 'note: a.proto is read as proto2; begin it with syntax = "proto3";\n'


def test_what_cannot_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "nowhere", "--out", "gen"]) == 2
    assert capsys.readouterr().err == "error: nowhere: no such file or folder\n"
    (folder / "empty").mkdir()
    assert main(["compile", "empty", "--out", "gen"]) == 2
    assert capsys.readouterr().err == "error: no .proto file in empty\n"
    (folder / "notes.txt").write_text("")
    assert main(["compile", "notes.txt", "--out", "gen"]) == 2
    assert capsys.readouterr().err == "error: notes.txt: not a .proto file\n"
    assert not (folder / "gen").exists()


def test_a_module_that_lands_beside_its_package_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compile_command(["protos/shop/v1/order.proto", "--out", "gen"]) == 0
    assert capsys.readouterr().err == (
        "note: protos/shop/v1/order.proto is of the package shop.v1, but its modules go to protos/shop/v1; "
        "add -I protos\n"
    )
    assert compile_command(["protos/shop/v1/order.proto", "-I", "protos", "--out", "gen"]) == 0
    assert capsys.readouterr().err == ""


def test_strict(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = 'option (buf.validate.message).cel_expression = "this.id.matches(this.re)";'
    text = GOOD.replace("string id = 1", f"string re = 2;\n{rule}\nstring id = 1")
    (folder / "protos/shop/v1/order.proto").write_text(text)
    assert compile_command(["protos", "--out", "gen"]) == 0
    assert compile_command(["protos", "--out", "gen", "--strict"]) == 2
    assert "error[cel-untranslatable]" in capsys.readouterr().err


def test_the_includes_folder(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    assert includes_command([]) == 0
    printed = capsys.readouterr().out
    includes = Path(printed.removesuffix("\n"))
    assert includes.is_relative_to(folder / "cache")
    assert {
        "buf/validate/validate.proto",
        "protocontract/v1/contract.proto",
        "google/protobuf/duration.proto",
    } <= _files(includes)
    assert includes_command([]) == 0
    assert capsys.readouterr().out == printed


def test_includes_where_the_cache_cannot_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(folder / "temp"))
    (folder / "temp").mkdir()
    assert includes_command([]) == 0
    assert Path(capsys.readouterr().out.strip()).is_relative_to(folder / "temp")


def test_exported_includes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert includes_command(["--export", "workspace"]) == 0
    assert _files(folder / "workspace") == {"buf/validate/validate.proto", "protocontract/v1/contract.proto"}
    assert capsys.readouterr().out.endswith("written to workspace\n")
