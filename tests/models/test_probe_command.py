"""``protocontract model probe``, and the way of a lighter model: calibrated, probed, run in an emergency."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocontract.cli import main
from protocontract.models import Attempt, Degrading, Fallback, Model, NoProvider, Probes, with_fallback
from protocontract.wire_stream import write_delimited
from protocontract_compiler.dynamic import load_protos
from tests.engines.calibrate.models import classifier
from tests.models.breaking import Breaking

PROTO = """
syntax = "proto3";
package lin.v1;
import "protocontract/v1/contract.proto";
service Lin {
  rpc Run(In) returns (Out) {
    option (protocontract.v1.service_level) = {
      batch: {max_size: 20 max_wait: {seconds: 1}}
      fallback: {model: "m_int8.onnx" label_agreement: AGREEMENT sticky: true probe_every: {seconds: 30}}
    };
  }
  rpc Other(Secret) returns (Out);
}
message In {
  string name = 1 [(protocontract.v1.field).sensitive = true];
  bytes x = 2 [(protocontract.v1.field).tensor = {name: "x" dtype: FLOAT32 dims: ["8"]}];
}
message Secret {
  bytes x = 1 [(protocontract.v1.field) = {sensitive: true tensor: {name: "x" dtype: FLOAT32 dims: ["8"]}}];
}
message Out { bytes scores = 1 [(protocontract.v1.field).tensor = {name: "scores" dtype: FLOAT32 dims: ["5"]}]; }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, recorded traffic, and the contracts."""
    made = tmp_path_factory.mktemp("lin")
    classifier(made / "m.onnx")
    for name, agreement in (("protos", "0.9"), ("strict", "0.999")):
        (made / name).mkdir()
        (made / name / "lin.proto").write_text(PROTO.replace("AGREEMENT", agreement))
    kinds = load_protos([made / "protos"], proto_path=made / "protos")
    for name in ("In", "Secret"):
        with open(made / f"{name}.binpb", "wb") as stream:
            for row in np.random.default_rng(0).normal(size=(500, 8)).astype("float32"):
                write_delimited(stream, kinds[f"lin.v1.{name}"].message_type(x=row.tobytes()))
            if name == "In":
                write_delimited(stream, kinds["lin.v1.In"].message_type(x=b"odd"))
    return made


def run(folder: Path, action: list[str], *arguments: str, protos: str = "protos", name: str = "In") -> int:
    known = ["--contract", f"lin.v1.{name}", "--proto-path", str(folder / protos)]
    return main([*action, *known, *arguments, str(folder / f"{name}.binpb")])


def probe(folder: Path, *arguments: str, **more: Any) -> int:
    return run(folder, ["model", "probe", str(folder / "m.onnx")], *arguments, **more)


def test_s28_a_lighter_model_stands_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As docs/models.md tells it: calibrate, probe, serve; the device fails, and labels stay as declared."""
    model, out = folder / "m.onnx", folder / "m_int8.onnx"
    assert run(folder, ["calibrate"], "--model", str(model), "--out", str(out), "--hold-out", "100") == 0
    capsys.readouterr()
    assert probe(folder) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == [
        "lin.v1.In · m.onnx · 501 records, 500 valid",
        "    probes  100 rows in 5 runs on cpu, seed 1",
    ]
    assert told[2].startswith(
        "  ✓ model:m_int8.onnx of lin.v1.Lin/Run: kept: m_int8.onnx on cpu beside m.onnx on cpu: "
    )
    fallback = Fallback(model="m_int8.onnx", label_agreement=0.9, sticky=True, probe_every=30.0)
    device = Breaking(model)
    engine = with_fallback(model, fallback, lambda: device, background=False)
    rows = {"x": np.random.default_rng(3).normal(size=(64, 8)).astype("float32")}
    expected = engine.run(rows)
    device.kind = "memory"
    ran = engine.run(rows)
    light = Model(out)
    assert ran.facts["fallback"] == "model:m_int8.onnx"
    assert ran.facts["attempts"] == "npu failed (memory); cpu"
    assert ran.facts["model"] == light.identity.sha256 != expected.facts["model"]
    alike = ran.outputs["scores"].argmax(axis=1) == expected.outputs["scores"].argmax(axis=1)
    assert alike.mean() >= 0.9
    assert (ran.outputs["scores"] != expected.outputs["scores"]).any()
    assert isinstance(engine, Degrading)
    assert engine.identity.sha256 == light.identity.sha256

    def missing() -> Breaking:
        raise NoProvider("m.onnx", [Attempt("npu", "no device", "install it")])

    without = with_fallback(model, fallback, missing, background=False)
    assert (without.name, without.run(rows).facts["fallback"]) == ("m.onnx", "model:m_int8.onnx")

    classifier(folder / "other.onnx", name="y")
    Probes.path_of(folder / "other.onnx").write_bytes(Probes.path_of(model).read_bytes())
    wrong = "the fallback m_int8.onnx was calibrated from another model than other.onnx; .*a folder of its own"
    with pytest.raises(Exception, match=wrong):
        with_fallback(folder / "other.onnx", fallback, lambda: Breaking(folder / "other.onnx"))


def test_a_stand_in_that_is_worse_than_declared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Probes are of the model; what is declared beside it is told at once."""
    classifier(folder / "m_int8.onnx", operator="MatMul")
    assert probe(folder, "--format", "json", protos="strict") == 0
    found = json.loads(capsys.readouterr().out)["fallbacks"]
    assert found[0]["verdict"] == "kept"
    noise = np.random.default_rng(5).normal(size=(8, 5)).astype("float32")
    _other_weights(folder / "m_int8.onnx", noise)
    assert probe(folder, "--format", "json", protos="strict") == 1
    report = json.loads(capsys.readouterr().out)
    assert report["fallbacks"][0]["verdict"] == "broken"
    assert " of 100 labels are alike; expected 0.999 of them" in report["fallbacks"][0]["found"]
    assert report["probes"]["rows"] == 100
    (folder / "m_int8.onnx").unlink()
    assert probe(folder) == 0
    assert "not compared: m_int8.onnx is not beside m.onnx" in capsys.readouterr().out


def _other_weights(path: Path, weights: Any) -> None:
    import onnx
    from onnx import numpy_helper

    model = onnx.load(str(path))
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, "weights"))
    onnx.save(model, str(path))


def test_the_same_records_make_the_same_file_and_no_secret_is_in_it(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("a", "b", "c")]
    for file, seed in zip(files, ("1", "1", "2"), strict=True):
        assert probe(folder, "--out", str(file), "--seed", seed, "--take", "10", "--batch", "4") == 0
    assert [each.rows for each in Probes.read(files[0]).probes] == [4, 4, 2]
    first, second, third = (file.read_bytes() for file in files)
    assert first == second != third
    assert Probes.read(files[0]).about["contract"] == "lin.v1.In"
    capsys.readouterr()
    assert probe(folder, name="Secret") == 2
    assert "which is the sensitive field x of lin.v1.Secret" in capsys.readouterr().err


def test_what_cannot_be_made(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert probe(folder, "--take", "0") == 2
    assert probe(folder, "--providers", "cuda") == 2
    classifier(tmp_path / "y.onnx", name="y")
    assert run(folder, ["model", "probe", str(tmp_path / "y.onnx")]) == 2
    assert "y.onnx takes y float32[N, 8]; lin.v1.In has x" in capsys.readouterr().err
    (tmp_path / "In.binpb").write_bytes(b"\x01\xff")
    arguments = ["--contract", "lin.v1.In", "--proto-path", str(folder / "protos"), str(tmp_path / "In.binpb")]
    assert main(["model", "probe", str(folder / "m.onnx"), *arguments]) == 2
    assert "none of 1 record keeps lin.v1.In; expected one at least" in capsys.readouterr().err
