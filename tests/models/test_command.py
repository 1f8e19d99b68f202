"""``protocontract model check``: the same comparison, without a server."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from protocontract.card import Stamp, write_stamp
from protocontract.cli import main
from protocontract.evidence import data_versions
from tests.models.support import contracts, line_of, model


def check(folder: Path, path: Path, *arguments: str) -> int:
    protos = str(folder / "protos")
    return main(
        ["model", "check", "--contract", "zoo.v1.In", "--response", "zoo.v1.Out", "--proto-path", protos, *arguments,
         str(path)]
    )  # fmt: skip


def test_a_model_that_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contracts(tmp_path)
    path = model(tmp_path / "m.onnx")
    assert check(tmp_path, path) == 0
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert capsys.readouterr().out.splitlines() == [
        "· m.onnx does not say the labels of its classes: their order is not compared with zoo.v1.Out",
        "· m.onnx has no stamp: what it was trained on is not compared",
        "✓ m.onnx fits zoo.v1.In and zoo.v1.Out",
        f"  sha256 {digest}",
    ]


def test_a_model_that_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contracts(tmp_path)
    path = model(tmp_path / "m.onnx", dims=("N", 9))
    (tmp_path / "labels.json").write_text('{"space": ["cat", "dog", "cavy"]}')
    labels = f"{tmp_path / 'labels.json'}#space"
    assert check(tmp_path, path, "--labels", labels, "--require-stamp") == 1
    out = capsys.readouterr().out.splitlines()
    assert out[:3] == [
        "✗ m.onnx input `x` is float32[N, 9]; the contract says float32[rows, 8]"
        f" (zoo.proto:{line_of('features')})",
        "✗ m.onnx says that class 0 is `cat` (labels.json space); the contract says `ANIMAL_DOG`, 2 of 3 classes differ"
        f" (zoo.proto:{line_of('animal = 2')})",
        "✗ m.onnx has no stamp of its training; the service expects one",
    ]  # fmt: skip
    assert out[3] == "m.onnx does not fit zoo.v1.In and zoo.v1.Out: 3 differences"


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zoo = contracts(tmp_path)
    path = model(tmp_path / "m.onnx", dims=("N", 9), metadata={"labels": '["dog", "cat", "cavy"]'})
    write_stamp(Stamp("zoo.v1.Sentence", "", zoo["Sentence"].fingerprint, dict(data_versions())), path)
    assert check(tmp_path, path, "--format", "json") == 1  # the stamp's contract is looked up where the others are
    told = json.loads(capsys.readouterr().out)
    assert told["fits"] is False
    assert told["differences"] == [
        {
            "kind": "input",
            "model": "m.onnx input `x` is float32[N, 9]",
            "contract": "the contract says float32[rows, 8]",
            "where": f"zoo.proto:{line_of('features')}",
        }
    ]
    assert told["inputs"] == {"x": "float32[N, 9]"}
    assert told["contracts"]["zoo.v1.In"] == zoo["In"].fingerprint
    assert told["notes"] == []


def test_what_cannot_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contracts(tmp_path)
    assert check(tmp_path, tmp_path / "no.onnx") == 2
    (tmp_path / "m.onnx").write_bytes(b"no model")
    assert check(tmp_path, tmp_path / "m.onnx") == 2
    assert "error: m.onnx is no ONNX model; expected a protobuf message" in capsys.readouterr().err
    assert main(["model"]) == 2


def test_models_need_no_grpc_and_name_their_extra() -> None:
    script = """
import sys
sys.modules["grpc"] = None
import protocontract.models
for name in [name for name in sys.modules if name.startswith(("protocontract.models", "onnxruntime"))]:
    del sys.modules[name]
sys.modules["onnxruntime"] = None
try:
    import protocontract.models
except Exception as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert told.strip() == 'protocontract.models needs onnxruntime: pip install "protocontract[serving]"'
