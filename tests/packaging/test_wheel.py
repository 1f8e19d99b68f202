"""The three ways to compile, from an empty folder, with nothing installed but the wheel and its extra `compiler`.

Beside them only what the way itself is about: protoc for the second, buf for the third. Needs the package registry.
"""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest

from tests.packaging.support import ROOT, Installed

CONTRACT = """\
syntax = "proto3";

package shop.v1;

import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";

message Order {
  option (protocontract.v1.contract) = {version: "1.0.0" owner: "orders@acme.example"};
  string id = 1 [(buf.validate.field).string.min_len = 1];
  string amount = 2 [(protocontract.v1.field).money = {default_currency: "CNY" currency_field: "currency"}];
  string currency = 3;
  string booked_at = 4 [(protocontract.v1.field).instant = {zone: "Asia/Shanghai"}];
  string note = 5 [(protocontract.v1.field).text = {trim: true normalize: NFC}];
}
"""

USE = """\
from shop.v1.order_contract import ORDER
import protocontract, sys

assert protocontract.load("shop.v1.Order") is ORDER
raw = ORDER.message_type(id="1", amount="¥1000", booked_at="2026-01-01 08:00", note=" x ").SerializeToString()
order = ORDER.parse(raw)
assert (order.amount, order.currency, order.booked_at, order.note) == ("1000.00", "CNY", "2026-01-01T00:00:00Z", "x")
assert not ORDER.process(b"\\x0a").ok
print(ORDER.full_name, ORDER.version, ORDER.fingerprint)
"""

BUF_GEN = """\
version: v2
plugins:
  - protoc_builtin: python
    protoc_path: [{python}, -m, grpc_tools.protoc]
    out: gen
    include_imports: true
    strategy: all
  - protoc_builtin: pyi
    protoc_path: [{python}, -m, grpc_tools.protoc]
    out: gen
    include_imports: true
    strategy: all
  - local: protoc-gen-contract
    out: gen
    strategy: all
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "contracts/shop/v1").mkdir(parents=True)
    (tmp_path / "contracts/shop/v1/order.proto").write_text(CONTRACT)
    (tmp_path / "use.py").write_text(USE)
    return tmp_path


def test_the_wheel_holds_the_vocabulary_with_its_comments(installed: Installed, folder: Path) -> None:
    installed.run("protocontract includes --export out", folder)
    exported = (folder / "out/protocontract/v1/contract.proto").read_text()
    assert exported == (ROOT / "contracts/protocontract/v1/contract.proto").read_text()


def test_the_wheel_holds_the_reader_of_typescript(wheel: Path) -> None:
    inside = "protocontract_ci/usage/typescript/node"
    source = ROOT / "ci" / inside
    expected = {f"{inside}/{path.relative_to(source)}" for path in source.rglob("*") if path.is_file()}
    assert {f"{inside}/{name}" for name in ("main.mjs", "package.json", "package-lock.json")} <= expected
    assert expected <= set(zipfile.ZipFile(wheel).namelist())


def test_all_in_one(installed: Installed, folder: Path) -> None:
    installed.run("protocontract compile contracts --out gen", folder)
    assert "shop.v1.Order 1.0.0" in installed.run("PYTHONPATH=gen python use.py", folder)
    assert (folder / "gen/shop/v1/order_pb2.pyi").exists()
    assert (folder / "gen/buf/validate/validate_pb2.py").exists()


@pytest.mark.parametrize("which", ["grpc_tools", "stock"])
def test_protoc(installed: Installed, folder: Path, which: str) -> None:
    protoc = "python -m grpc_tools.protoc"
    if which == "stock":
        protoc = os.environ.get("PROTOC", "")
        if not protoc:
            pytest.skip("PROTOC names no protoc executable (.ci/protoc fetches one)")
    installed.run(
        f'mkdir gen; {protoc} -I contracts -I "$(protocontract includes)" --python_out=gen --pyi_out=gen '
        "--contract_out=gen shop/v1/order.proto buf/validate/validate.proto",
        folder,
    )
    # The fingerprint is that of the all-in-one way.
    used = installed.run("PYTHONPATH=gen python use.py", folder)
    installed.run("protocontract compile contracts --out gen2", folder)
    assert installed.run("PYTHONPATH=gen2 python use.py", folder) == used


def test_buf(installed: Installed, folder: Path) -> None:
    buf = Path(sys.executable).parent / "buf"
    assert buf.exists(), "buf-bin is a development dependency"
    (folder / "tools").mkdir()
    (folder / "tools/buf").symlink_to(buf)
    (folder / "contracts/buf.yaml").write_text("version: v2\n")
    (folder / "contracts/buf.gen.yaml").write_text(BUF_GEN.format(python=installed.python))
    installed.run(
        "cd contracts; protocontract includes --export .; buf generate; mv gen ..",
        folder,
        extra_path=str(folder / "tools"),
    )
    assert "shop.v1.Order 1.0.0" in installed.run("PYTHONPATH=gen python use.py", folder)


def test_without_the_extra_the_command_says_what_to_type(installed: Installed) -> None:
    result = installed.without_the_extra
    assert result.returncode == 2
    assert 'pip install "protocontract[compiler]"' in result.stderr
    assert "Traceback" not in result.stderr
