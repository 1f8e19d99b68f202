"""The plugin under each front end: protoc of grpcio-tools, stock protoc, buf; and the command, and the dynamic mode.

All must give the same contracts: the same modules byte for byte, and so the same fingerprints.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from protocontract_compiler import load_protos
from protocontract_compiler.protoc import includes_folder
from tests.compiler.sources import CONTRACTS, EXAMPLES

PROTOS = Path(__file__).parent / "protos"
OTHERS = (
    "old.proto", "modern.proto", "custom.proto", "good/every_word.proto", "words/class.proto", "words/other-file.proto",
)  # fmt: skip
VALIDATE = "buf/validate/validate.proto"
CASE = Path(__file__).parent / "cases" / "money-currency-field"

BUF_GEN = f"""\
version: v2
plugins:
  - protoc_builtin: python
    protoc_path: ["{sys.executable}", "-m", "grpc_tools.protoc"]
    out: gen
    include_imports: true
    strategy: all
  - protoc_builtin: pyi
    protoc_path: ["{sys.executable}", "-m", "grpc_tools.protoc"]
    out: gen
    include_imports: true
    strategy: all
  - local: protoc-gen-contract
    out: gen
    strategy: all
"""


def _environment() -> dict[str, str]:
    """The environment with the plugin on PATH and the generated modules nowhere."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path}


def _run(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )


def _workspace(folder: Path) -> Path:
    shutil.copytree(CONTRACTS / "acme", folder / "acme")
    shutil.copytree(PROTOS, folder, dirs_exist_ok=True)
    return folder


def _protoc(protoc: Sequence[str], folder: Path) -> Path:
    out = folder / "gen"
    out.mkdir()
    outputs = [f"--{kind}_out={out}" for kind in ("python", "pyi", "contract")]
    result = _run([*protoc, "-I.", f"-I{includes_folder()}", *outputs, *EXAMPLES, *OTHERS, VALIDATE], folder)
    assert result.returncode == 0, result.stderr
    return out


def _stock_protoc() -> str:
    protoc = os.environ.get("PROTOC")
    if not protoc:
        pytest.skip("PROTOC names no protoc executable (.ci/protoc fetches one)")
    return protoc


def _contract_modules(out: Path) -> dict[str, str]:
    return {str(path.relative_to(out)): path.read_text() for path in sorted(out.rglob("*_contract.py"))}


@pytest.fixture(scope="module")
def grpc_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _protoc([sys.executable, "-m", "grpc_tools.protoc"], _workspace(tmp_path_factory.mktemp("grpc")))


def test_protoc_of_grpcio_tools(grpc_out: Path) -> None:
    names = set(_contract_modules(grpc_out))
    assert "acme/finance/v1/transaction_contract.py" in names
    assert "words/other_file_contract.py" in names
    assert not any(name.startswith(("buf/", "protocontract/")) for name in names)
    assert (grpc_out / "buf/validate/validate_pb2.py").exists()


@pytest.mark.stock_protoc
def test_stock_protoc(grpc_out: Path, tmp_path: Path) -> None:
    out = _protoc([_stock_protoc()], _workspace(tmp_path))
    assert _contract_modules(out) == _contract_modules(grpc_out)
    _use(out, tmp_path)


def test_buf(grpc_out: Path, tmp_path: Path) -> None:
    folder = _workspace(tmp_path)
    (folder / "buf.yaml").write_text("version: v2\n")
    (folder / "buf.gen.yaml").write_text(BUF_GEN)
    exported = _run(["protocontract", "includes", "--export", "."], folder)
    assert exported.returncode == 0, exported.stderr
    result = _run(["buf", "generate"], folder)
    assert result.returncode == 0, result.stderr
    assert _contract_modules(folder / "gen") == _contract_modules(grpc_out)
    _use(folder / "gen", tmp_path)


def test_the_command(grpc_out: Path, tmp_path: Path) -> None:
    folder = _workspace(tmp_path)
    result = _run(["protocontract", "compile", ".", "--out", "gen"], folder)
    assert result.returncode == 0, result.stderr
    out = folder / "gen"
    made = {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    expected = {str(path.relative_to(grpc_out)): path.read_bytes() for path in grpc_out.rglob("*") if path.is_file()}
    assert made == expected
    _use(out, tmp_path)


def test_the_dynamic_mode_has_the_same_fingerprints(grpc_out: Path, tmp_path: Path) -> None:
    contracts = load_protos([_workspace(tmp_path)])
    text = "\n".join(_contract_modules(grpc_out).values())
    assert len(contracts) > 20
    for contract in contracts.values():
        assert contract.fingerprint in text, contract.full_name


@pytest.mark.parametrize("front_end", ["grpc", "stock", "buf", "command"])
def test_a_contract_with_mistakes_stops_everything(front_end: str, tmp_path: Path) -> None:
    shutil.copy(CASE / "case.proto", tmp_path)
    out = tmp_path / "gen"
    if front_end == "buf":
        (tmp_path / "buf.yaml").write_text("version: v2\n")
        (tmp_path / "buf.gen.yaml").write_text(BUF_GEN)
        assert _run(["protocontract", "includes", "--export", "."], tmp_path).returncode == 0
        command: list[str | Path] = ["buf", "generate"]
    elif front_end == "command":
        command = ["protocontract", "compile", ".", "--out", "gen"]
    else:
        out.mkdir()
        protoc = [_stock_protoc()] if front_end == "stock" else [sys.executable, "-m", "grpc_tools.protoc"]
        command = [*protoc, "-I.", f"-I{includes_folder()}", "--python_out=gen", "--contract_out=gen", "case.proto"]
    result = _run(command, tmp_path)
    assert result.returncode == (2 if front_end == "command" else result.returncode or -1)
    assert (CASE / "stderr").read_text().strip() in result.stderr
    assert "Traceback" not in result.stderr
    assert not [path for path in out.rglob("*") if path.is_file()]


def _use(out: Path, folder: Path) -> None:
    """The generated modules work in a process that has nothing but them."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from acme.finance.v1.transaction_contract import TRANSACTION as contract\n"
        "import importlib, protocontract\n"
        "for name in ('old', 'modern', 'custom', 'good.every_word', 'words.other_file', 'words.class',\n"
        "             'acme.text.v1.text', 'acme.inference.v1.model_service', 'acme.pipeline.v1.pipeline'):\n"
        "    importlib.import_module(f'{name}_contract')\n"
        "assert protocontract.load('acme.finance.v1.Transaction') is contract\n"
        "made = contract.message_type(id='123e4567-e89b-12d3-a456-426614174000', amount='¥1000', kind=1,\n"
        "    booked_at='2026-01-01 08:00', account='1234567890123456789')\n"
        "parsed = contract.parse(made.SerializeToString())\n"
        "print(parsed.amount, parsed.currency, parsed.booked_at)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(out)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["1000.00", "1", "2026-01-01T00:00:00Z"]
