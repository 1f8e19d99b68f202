"""``protocontract calibrate`` on small models: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
import random
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import TensorProto

from protocontract.calibrate.calibration import set_hash
from protocontract.calibrate.inputs import Inputs
from protocontract.card import Card, CardBuilder, Stamp, read_stamp, write_stamp
from protocontract.cli import main
from protocontract.loading import resolve
from protocontract.wire_stream import write_delimited
from tests.engines.calibrate.models import WIDTH, classifier, two_outputs

PROTO = """
syntax = "proto3";
package light.v1;
import "buf/validate/validate.proto";
import "protocontract/v1/contract.proto";
message Features {
  option (protocontract.v1.contract) = {version: "1.0.0"};
  bytes x = 1 [(protocontract.v1.field).tensor = {name: "x" dtype: FLOAT32 dims: ["8"] finite: true}];
  bytes face = 2 [(protocontract.v1.field) = {sensitive: true tensor: {name: "face" dtype: FLOAT32 dims: ["8"]}}];
  string name = 3 [(protocontract.v1.field).sensitive = true];
}
message Answer { int32 label = 1; }
service Classifier {
  rpc Classify(Features) returns (Answer) {
    option (protocontract.v1.service_level) = {fallback: {model: "int8.onnx" label_agreement: 0.9}};
  }
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Protos, a model, and a file of 400 records, some of them broken."""
    (tmp_path / "protos").mkdir()
    (tmp_path / "protos" / "light.proto").write_text(PROTO)
    classifier(tmp_path / "m.onnx")
    write_records(tmp_path, tmp_path / "traffic.binpb", 400)
    return tmp_path


def write_records(folder: Path, path: Path, number: int, name: str = "") -> None:
    """Records of seeded numbers; each tenth has a NaN."""
    message_type = contract(folder).message_type
    chosen = random.Random(7)
    with open(path, "wb") as stream:
        for place in range(number):
            values = [chosen.gauss(0, 1) for _ in range(WIDTH)]
            if place % 10 == 0:
                values[3] = float("nan")
            raw = struct.pack(f"<{WIDTH}f", *values)
            write_delimited(stream, message_type(x=raw, face=raw, name=name and f"{name} {place}"))


def contract(folder: Path) -> Any:
    return resolve("light.v1.Features", proto_path=folder / "protos")


def run(folder: Path, *arguments: str, model: str = "m.onnx", out: str = "int8.onnx") -> int:
    return main([
        "calibrate", "--contract", "light.v1.Features", "--proto-path", str(folder / "protos"),
        "--model", str(folder / model), "--out", str(folder / out), str(folder / "traffic.binpb"), *arguments,
    ])  # fmt: skip


def test_a_light_model_with_its_evidence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "--format", "json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["read"], told["valid"], told["verdict"], told["exit_code"]) == (400, 360, "kept", 0)
    assert (told["calibration_records"], told["held_out_records"], told["labels"]) == (100, 260, 260)
    assert told["declared_agreement"] == 0.9
    assert told["agreement"] == told["same_labels"] / 260 >= 0.9
    light = folder / "int8.onnx"
    stamp = read_stamp(light)
    assert stamp is not None
    assert (stamp.contract, stamp.version, stamp.fingerprint) == (
        "light.v1.Features", "1.0.0", contract(folder).fingerprint,
    )  # fmt: skip
    assert stamp.card_sha256 is None
    facts = dict(stamp.calibration or {})
    assert facts["set_sha256"] == told["set_sha256"]
    assert facts["quantization"] == told["quantization"] == {
        "type": "int8", "operators": ["Conv", "MatMul"], "per_channel": True, "reduce_range": True,
        "ranges": "minmax", "format": "qdq",
    }  # fmt: skip
    assert (facts["records"], facts["held_out"], facts["seed"]) == (100, 260, 0)
    assert facts["fingerprint"] == stamp.fingerprint
    # onnxruntime reads the same, and runs the model.
    session = ort.InferenceSession(str(light), providers=["CPUExecutionProvider"])
    assert Stamp.from_entries(session.get_modelmeta().custom_metadata_map) == stamp
    assert session.run(None, {"x": np.zeros((3, WIDTH), dtype="float32")})[0].shape == (3, 5)
    assert sorted(path.name for path in folder.iterdir()) == ["int8.onnx", "m.onnx", "protos", "traffic.binpb"]


def test_the_same_records_and_seed_give_the_same_bytes(folder: Path) -> None:
    assert run(folder, out="a.onnx") == 0
    whole = (folder / "traffic.binpb").read_bytes()
    (folder / "traffic.binpb").write_bytes(whole + whole)
    assert run(folder, out="b.onnx") == 0
    assert (folder / "a.onnx").read_bytes() == (folder / "b.onnx").read_bytes()
    assert run(folder, "--seed", "1", out="c.onnx") == 0
    assert (folder / "c.onnx").read_bytes() != (folder / "a.onnx").read_bytes()


def test_sensitive_values_decide_nothing(folder: Path) -> None:
    assert run(folder, out="a.onnx") == 0
    write_records(folder, folder / "traffic.binpb", 400, name="Quetzal")
    assert run(folder, out="b.onnx") == 0
    assert (folder / "a.onnx").read_bytes() == (folder / "b.onnx").read_bytes()
    assert b"Quetzal" not in (folder / "b.onnx").read_bytes()


def test_below_the_declared_agreement_nothing_is_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "int8.onnx").write_bytes(b"the one before")
    assert run(folder, "--agreement", "1", "--take", "1", "--hold-out", "300") == 1
    out = capsys.readouterr().out
    assert "✗ same labels" in out
    assert out.endswith("broken: fewer labels are the same than declared; nothing was written\n")
    assert (folder / "int8.onnx").read_bytes() == b"the one before"
    assert sorted(path.name for path in folder.iterdir()) == ["int8.onnx", "m.onnx", "protos", "traffic.binpb"]


def test_the_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder) == 0
    first, second, third, fourth, last = capsys.readouterr().out.splitlines()
    assert first == "light.v1.Features 1.0.0 · m.onnx · 400 records, 360 valid"
    assert second.startswith("    calibrated on   100 records, set ")
    recipe = "int8 per channel, int7 weights, Conv MatMul, minmax, qdq"
    assert re.fullmatch(rf"    quantised       {recipe}, \d\.\d\d kB to \d\.\d\d kB", third)
    assert fourth.startswith("  ✓ same labels     ")
    assert fourth.endswith(" of 260, on 260 records held out")
    assert last.startswith(f"kept: {folder / 'int8.onnx'}, sha256 ")


def test_the_card_of_the_training_data_goes_along(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    builder: CardBuilder[Any] = CardBuilder(contract(folder))
    card = builder.card()
    card.write(folder / "card")
    assert run(folder, "--card", str(folder / "card" / "card.json")) == 0
    stamp = read_stamp(folder / "int8.onnx")
    assert stamp is not None
    assert stamp.card_sha256 == card.sha256
    # A model that is stamped already needs no card, and no other card fits it.
    card.stamp(folder / "m.onnx")
    assert run(folder) == 0
    stamp = read_stamp(folder / "int8.onnx")
    assert stamp is not None
    assert stamp.card_sha256 == card.sha256
    builder.leave_out("test")
    other: Card = builder.card()
    other.write(folder / "card")
    assert run(folder, "--card", str(folder / "card" / "card.json")) == 2
    assert "trained on another card" in capsys.readouterr().err


def test_a_model_of_another_version_of_the_contract(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_stamp(Stamp("light.v1.Features", "0.9.0", "ab" * 32, {}), folder / "m.onnx")
    assert run(folder) == 2
    error = capsys.readouterr().err
    assert "m.onnx was trained under another version of light.v1.Features: 0.9.0 abababababab; expected 1.0.0" in error
    assert not (folder / "int8.onnx").exists()


@pytest.mark.parametrize(("make", "arguments", "error"), [
    (lambda path: classifier(path, name="y"), (), "m.onnx takes y float32[N, 8]; light.v1.Features has x"),
    (lambda path: classifier(path, name="face"), (), "takes face, which is the sensitive field face of light.v1.Feat"),
    (lambda path: classifier(path, element=TensorProto.INT32), (), "takes x int32[N, 8]; light.v1.Features gives"),
    (lambda path: classifier(path, operator="Mul"), (), "has no Conv and no MatMul; name what to quantise"),
    (two_outputs, (), "m.onnx has 2 outputs with classes on their last axis; name one with --output: scores, others"),
    (two_outputs, ("--output", "highest"), "no output highest with classes on its last axis; it has scores, others"),
    (lambda path: path.write_bytes(b"no model"), (), "m.onnx is no ONNX model"),
    (lambda path: path.write_bytes(b""), (), "m.onnx is empty"),
    (classifier, ("--hold-out", "9"), "expected at least 10 held out to judge an agreement of 0.9"),
    (classifier, ("--take", "1%"), "a number and a share"),
    (classifier, ("--contract", "light.v1.Answer"), "light.v1.Answer has no tensors"),
    (classifier, ("--method", "light.v1.Classifier/Other"), "no fallback model with label_agreement"),
])  # fmt: skip
def test_what_does_not_fit_is_said_and_nothing_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], make: Any, arguments: tuple[str, ...], error: str
) -> None:
    make(folder / "m.onnx")
    assert run(folder, *arguments) == 2
    assert error in capsys.readouterr().err
    assert not (folder / "int8.onnx").exists()


def test_a_quantised_model_is_not_quantised_again(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder) == 0
    assert run(folder, model="int8.onnx", out="again.onnx") == 2
    assert "int8.onnx is quantised already; expected a model in floats" in capsys.readouterr().err


def test_the_hash_of_a_set_is_that_of_its_samples_in_order(folder: Path) -> None:
    features = contract(folder)
    inputs = Inputs(features)
    batches = [inputs.of(features.message_type(x=struct.pack("<8f", *[number] * 8))) for number in range(3)]
    assert set_hash(batches) == set_hash(list(batches))
    assert set_hash(batches) != set_hash(batches[::-1])
    assert set_hash(batches) != set_hash(batches[:2])
