"""The index is about all contracts: a request for some of them is refused, however it comes."""

from __future__ import annotations

from pathlib import Path

import pytest

from protocontract.cli import main
from protocontract_compiler import plugin
from tests.compiler.sources import descriptors, request

CONTRACT = """\
syntax = "proto3";
package {package};
import "protocontract/v1/contract.proto";
{imports}
message {name} {{ option (protocontract.v1.contract).version = "1.0.0"; {field} }}
"""
ITEM = CONTRACT.format(package="shop.item", imports="", name="Item", field="")
ORDER = CONTRACT.format(
    package="shop.order", imports='import "shop/item/item.proto";', name="Order", field="shop.item.Item item = 1;"
)
ALONE = CONTRACT.format(package="shop.alone", imports="", name="Alone", field="")
MISSING = "{}: error[partial-request]: the contracts of this file are not in the request; expected all files at once"


@pytest.fixture
def contracts(tmp_path: Path) -> Path:
    """Three folders of contracts, as buf would ask for one by one."""
    root = tmp_path / "contracts"
    for name, text in (("item", ITEM), ("order", ORDER), ("alone", ALONE)):
        (root / "shop" / name).mkdir(parents=True)
        (root / "shop" / name / f"{name}.proto").write_text(text)
    (root / "plain.proto").write_text('syntax = "proto3"; package plain; message Plain { string a = 1; }')
    return root


def ask(contracts: Path, scratch: Path, *names: str, parameter: str = "target=docs") -> tuple[str, list[str]]:
    """What the plugin answers: its error, the names of its files."""
    files = descriptors(names, [contracts], scratch)
    response = plugin.respond(request(files, names, parameter))
    return response.error.strip(), [file.name for file in response.file]


ORDER_FILE, ITEM_FILE, ALONE_FILE = (f"shop/{name}/{name}.proto" for name in ("order", "item", "alone"))


def test_an_import_with_a_contract_must_be_asked_for(contracts: Path, tmp_path: Path) -> None:
    error, files = ask(contracts, tmp_path, ORDER_FILE)
    assert error.startswith(MISSING.format(ITEM_FILE))
    assert "for target docs, which is one output of all (with buf: `strategy: all`)" in error
    assert files == []
    error, files = ask(contracts, tmp_path, ORDER_FILE, ITEM_FILE)
    assert error == ""
    assert {"index.html", "shop.order.Order.html", "shop.item.Item.zh.md"} <= set(files)


def test_contracts_below_the_source_root_must_be_asked_for(contracts: Path, tmp_path: Path) -> None:
    parameter = f"target=docs,source_root={contracts}"
    error, _ = ask(contracts, tmp_path, ALONE_FILE, parameter=parameter)
    assert [line.partition(":")[0] for line in error.splitlines()] == [
        ITEM_FILE,
        ORDER_FILE,
        "2 errors; nothing was written",
    ]
    error, files = ask(contracts, tmp_path, ORDER_FILE, ITEM_FILE, ALONE_FILE, parameter=parameter)
    assert error == ""
    # Files without a contract have no page, and need not be there.
    assert not [name for name in files if name.startswith("plain")]


def test_a_root_of_others_has_no_part_in_it(contracts: Path, tmp_path: Path) -> None:
    others = tmp_path / "others"
    (others / ".git").mkdir(parents=True)
    (others / ".git" / "old.proto").write_text(ALONE)
    (others / "theirs.proto").write_text(ALONE)
    parameter = f"target=docs,source_root={others}"
    assert ask(contracts, tmp_path, ALONE_FILE, parameter=parameter)[0] == ""


def test_targets_a_file_each_do_not_mind(contracts: Path, tmp_path: Path) -> None:
    assert ask(contracts, tmp_path, ORDER_FILE, parameter="target=python,target=prometheus")[0] == ""


def test_the_command(contracts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    part = ["compile", str(contracts / "shop" / "alone"), "-I", str(contracts), "--out", str(out), "--target", "docs"]
    assert main(part) == 2
    assert MISSING.format(ITEM_FILE) in capsys.readouterr().err
    assert not out.exists()
    records = tmp_path / "records"
    (records / "history").mkdir(parents=True)
    (records / "history" / "shop.alone.Alone.toml").write_text('[[version]]\nversion = "0.9.0"\ndate = "2020-01-01"\n')
    whole = ["compile", str(contracts), "--out", str(out), "--target", "docs", "--records", str(records)]
    assert main(whole) == 0
    assert "16 files written" in capsys.readouterr().out
    assert "| 0.9.0 | 2020-01-01 |" in (out / "shop.alone.Alone.md").read_text()
    # Beside pages nothing is written: no module, no descriptor.
    assert {path.suffix for path in out.iterdir()} == {".html", ".md"}
