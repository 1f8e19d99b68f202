"""``protocontract gate --check-generated``: committed generated code is what the compiler makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocontract.cli import main

ROOT = Path(__file__).parents[2]
PROTO = """syntax = "proto3";
package shop.v1;
import "buf/validate/validate.proto";
message Item { string id = 1 [(buf.validate.field).string.min_len = 1]; }
"""
CONTRACT = "shop/v1/item_contract.py"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder with a contract and its generated code, which is the working directory."""
    source = tmp_path / "contracts" / "shop" / "v1" / "item.proto"
    source.parent.mkdir(parents=True)
    source.write_text(PROTO)
    monkeypatch.chdir(tmp_path)
    assert main(["compile", "contracts", "--out", "gen"]) == 0
    capsys.readouterr()
    return tmp_path


def check(*options: str) -> int:
    return main(["gate", "--check-generated", "gen", *options])


def test_fresh_code_is_kept(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check() == 0
    # What is rendered from the installed protovalidate need not be committed.
    (shop / "gen" / "buf" / "validate" / "validate_pb2.py").unlink()
    assert check() == 0
    assert "is what the compiler makes" in capsys.readouterr().out


def test_contracts_that_are_elsewhere_are_asked_for(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "contracts").rename(shop / "proto")
    assert check() == 2
    assert "expected --contracts DIR" in capsys.readouterr().err
    assert check("--contracts", "proto") == 0


def test_drift_is_told_with_file_and_line(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generated = shop / "gen" / CONTRACT
    lines = generated.read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines, 1) if "min_len" in line)
    lines[at - 1] = lines[at - 1].rstrip("\n") + "  # by hand\n"
    generated.write_text("".join(lines))
    (shop / "gen" / "shop" / "v1" / "item_pb2.pyi").unlink()
    (shop / "gen" / "shop" / "v1" / "gone_contract.py").touch()
    assert check() == 1
    assert capsys.readouterr().out.splitlines() == [
        "gen/shop/v1/gone_contract.py is generated code of no contract; expected it to be removed",
        f"gen/{CONTRACT}:{at} is not what the compiler makes",
        "gen/shop/v1/item_pb2.pyi is missing; expected what the compiler makes",
        "3 files of generated code to be made anew: protocontract compile contracts --out gen",
    ]
    assert check("--format", "github") == 1
    assert f"::error file=gen/{CONTRACT},line={at},title=generated code::is not what" in capsys.readouterr().out


def test_a_contract_that_changed_is_drift(shop: Path) -> None:
    source = shop / "contracts" / "shop" / "v1" / "item.proto"
    source.write_text(PROTO.replace("min_len = 1", "min_len = 2"))
    assert check() == 1


def test_mistakes_of_the_contract_are_no_verdict(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "contracts" / "shop" / "v1" / "item.proto").write_text("message")
    assert check() == 2
    assert "item.proto" in capsys.readouterr().err


def test_ours_is_fresh(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    words = ["gate", "--check-generated", "generated/python", "--contracts", "contracts/acme", "-I", "contracts"]
    assert main(words) == 0, capsys.readouterr().out
