"""``protocontract diff --record``: the versions of contracts as files."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from protocontract.cli import BROKEN, KEPT, main
from protocontract.violations import ContractError
from protocontract_ci.diff import history
from protocontract_ci.diff.compare import compare
from protocontract_ci.sources import read
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.ir import Version, VersionChange
from protocontract_compiler.passes.company_records import Records
from tests.compiler.sources import CONTRACTS

SOURCE = """\
syntax = "proto3";
package shop.v1;
import "protocontract/v1/contract.proto";
import "buf/validate/validate.proto";
message {name} {{
  option (protocontract.v1.contract).version = "{version}";
  Item item = 1;
}}
message Item {{ string code = 1 {rule}; {more} }}
"""
TIGHTER = "[(buf.validate.field).string.min_len = 1]"


def state(
    folder: Path, version: str, rule: str = "", more: str = "", name: str = "Order", file: str = "shop/v1/order.proto"
) -> Path:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SOURCE.format(version=version, rule=rule, more=more, name=name))
    return folder


def recorded(before: Path, after: Path, folder: Path, day: str = "2026-01-02") -> list[str]:
    written, notes = history.record(compare(read(str(before), []), read(str(after), [])), folder, day)
    assert not notes
    return [f"{each.contract} {each.version}" for each in written]


def versions(folder: Path, name: str = "shop.v1.Order") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads((folder / f"{name}.toml").read_text())["version"]
    return found


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "history"


def test_the_first_version_and_the_next(tmp_path: Path, kept: Path) -> None:
    one = state(tmp_path / "one", "1.0.0")
    two = state(tmp_path / "two", "2.0.0", TIGHTER, "string note = 2;")
    assert recorded(one, one, kept) == ["shop.v1.Order 1.0.0"]
    assert recorded(one, one, kept, "2027-01-01") == []  # nothing new
    assert recorded(one, two, kept, "2026-02-03") == ["shop.v1.Order 2.0.0"]
    second, first = versions(kept)
    assert (first["version"], first["date"], first.get("change", [])) == ("1.0.0", "2026-01-02", [])
    assert (second["version"], second["date"]) == ("2.0.0", "2026-02-03")
    # What the message reaches counts, the worst first.
    assert second["change"] == [
        {"path": "shop.v1.Item.code@string.min_len", "direction": "tightened", "text": "added: 1"},
        {"path": "shop.v1.Item.note", "direction": "added", "text": "added: string note = 2"},
    ]
    assert first["fingerprint"] != second["fingerprint"]
    # Messages without a version of their own have no history.
    assert [path.name for path in kept.iterdir()] == ["shop.v1.Order.toml"]


def test_a_branch_is_recorded_as_often_as_it_changes(tmp_path: Path, kept: Path) -> None:
    one = state(tmp_path / "one", "1.0.0")
    recorded(one, one, kept)
    recorded(one, state(tmp_path / "two", "1.1.0", more="string note = 2;"), kept, "2026-02-03")
    later = state(tmp_path / "two", "1.1.0", more="string remark = 2;")
    assert recorded(one, later, kept, "2026-02-04") == ["shop.v1.Order 1.1.0"]
    assert recorded(one, later, kept, "2026-02-05") == []
    newest, first = versions(kept)
    assert (newest["date"], [change["path"] for change in newest["change"]]) == ("2026-02-04", ["shop.v1.Item.remark"])
    assert first["version"] == "1.0.0"


def test_words_of_people_stay(tmp_path: Path, kept: Path) -> None:
    one, two = state(tmp_path / "one", "1.0.0"), state(tmp_path / "two", "2.0.0", TIGHTER)
    recorded(one, two, kept)
    path = kept / "shop.v1.Order.toml"
    path.write_text(path.read_text().replace("added: 1", 'no empty codes: \\"-\\" was one \\u007f'))
    recorded(two, state(tmp_path / "three", "2.1.0", TIGHTER, "string note = 2;"), kept)
    assert versions(kept)[1]["change"][0]["text"] == 'no empty codes: "-" was one \x7f'


def test_a_version_that_does_not_fit_is_not_recorded(
    tmp_path: Path, kept: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = state(tmp_path / "one", "1.0.0"), state(tmp_path / "two", "1.0.1", TIGHTER)
    arguments = ["diff", str(one), str(two), "--rules", "table", "--record", str(kept), "--date", "2026-01-02"]
    assert main(arguments) == BROKEN
    said = capsys.readouterr().err
    assert "note: shop.v1.Order 1.0.1 is not recorded: the changes ask for a major version; expected 2.0.0" in said
    assert not kept.exists()
    state(tmp_path / "two", "2.0.0", TIGHTER)
    assert main([*arguments, "--fail-on", "never"]) == KEPT
    assert f"shop.v1.Order 2.0.0 recorded in {kept / 'shop.v1.Order.toml'}" in capsys.readouterr().err


def test_a_renamed_contract_takes_its_history_along(tmp_path: Path, kept: Path) -> None:
    one = state(tmp_path / "one", "1.0.0")
    recorded(one, one, kept)
    assert recorded(one, state(tmp_path / "two", "2.0.0", name="Purchase"), kept) == ["shop.v1.Purchase 2.0.0"]
    assert [each["version"] for each in versions(kept, "shop.v1.Purchase")] == ["2.0.0", "1.0.0"]
    assert [path.name for path in kept.iterdir()] == ["shop.v1.Purchase.toml"]


@pytest.mark.parametrize(
    "text", ["version = 1", "[[version]]\nname = 1", "= ", "[[version]]\nversion = '1'\nchange = 1"]
)
def test_a_file_that_is_no_history(tmp_path: Path, kept: Path, text: str) -> None:
    one = state(tmp_path / "one", "1.0.0")
    kept.mkdir()
    (kept / "shop.v1.Order.toml").write_text(text)
    with pytest.raises(ContractError, match="not a history of versions; expected what"):
        recorded(one, one, kept)


def test_what_is_written_is_what_the_compiler_reads(tmp_path: Path) -> None:
    one, two = state(tmp_path / "one", "1.0.0"), state(tmp_path / "two", "2.0.0", TIGHTER)
    recorded(one, one, tmp_path / "history")
    recorded(one, two, tmp_path / "history", "2026-02-03")
    diagnostics = Diagnostics()
    newest, first = Records([tmp_path], diagnostics).history("shop.v1.Order")
    assert not diagnostics.failed
    change = VersionChange("shop.v1.Item.code@string.min_len", "tightened", "added: 1")
    assert newest == Version("2.0.0", "2026-02-03", (change,), newest.fingerprint)
    assert (first.version, first.changes, len(first.fingerprint)) == ("1.0.0", (), 64)


def test_the_examples_have_recorded_their_versions() -> None:
    """``protocontract diff REF:contracts contracts --record contracts/history`` writes what is missing here."""
    contracts = read(str(CONTRACTS), [])
    declared = {
        name: message.contract.version
        for file in contracts.requested
        for name in contracts.schema.files[file].messages
        if (message := contracts.schema.messages[name]).contract is not None and message.contract.version
    }
    assert declared
    newest = {name: versions(CONTRACTS / "history", name)[0]["version"] for name in declared}
    assert newest == declared
