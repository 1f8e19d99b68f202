"""A real model: magika's, calibrated on files that are here anyway, through a versioned step of its own contract."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import magika
import onnxruntime as ort
import pytest

from acme.inference.v1.content_type_contract import IDENTIFY_REQUEST
from acme.inference.v1.content_type_pb2 import IdentifyRequest
from protocontract.calibrate.inputs import Inputs
from protocontract.card import read_stamp
from protocontract.steps import load_step
from protocontract.wire_stream import write_delimited

ROOT = Path(__file__).parents[3]
MODEL = Path(magika.__file__).parent / "models" / "standard_v3_3" / "model.onnx"
STEP = "tests.engines.calibrate.steps:content_type"


def contents(number: int) -> list[bytes]:
    """Files of the repository and of the standard library: sources, documents, pictures, binaries, data."""
    library = Path(os.__file__).parent
    found: dict[bytes, None] = {}
    for folder in (ROOT / "docs", ROOT / "contracts", ROOT / "ci", ROOT / "runtime", ROOT / "compiler", library):
        paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and "site-packages" not in path.parts]
        random.Random(1).shuffle(paths)
        for path in paths[: number // 3]:
            content = path.read_bytes()[:200_000]
            if len(content) >= 8:
                found[content] = None
    return list(found)[-number:]


@pytest.fixture(scope="module")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recorded requests."""
    path = tmp_path_factory.mktemp("magika") / "traffic.binpb"
    with open(path, "wb") as stream:
        for content in contents(900):
            write_delimited(stream, IdentifyRequest(content=content))
    return path


def calibrate(traffic: Path, out: str, *arguments: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, whose hashes of texts are its own too."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "generated" / "python")])}
    return subprocess.run(
        [
            sys.executable, "-m", "protocontract.cli", "calibrate", "--contract", "acme.inference.v1.IdentifyRequest",
            "--steps", STEP, "--model", str(MODEL), "--out", str(traffic.parent / out), str(traffic),
            "--format", "json", "--seed", seed, *arguments,
        ],
        capture_output=True, text=True, env={**environment, "PYTHONHASHSEED": "random"}, check=False,
    )  # fmt: skip


def test_the_step_makes_what_magika_makes() -> None:
    judge = magika.Magika()
    session = ort.InferenceSession(str(MODEL), providers=["CPUExecutionProvider"])
    labels = json.loads((MODEL.parent / "config.min.json").read_text())["target_labels_space"]
    inputs = Inputs(IDENTIFY_REQUEST, load_step(STEP))
    for content in contents(60):
        scores = session.run(None, dict(inputs.of(IdentifyRequest(content=content))))[0]
        answer: Any = judge.identify_bytes(content)
        assert labels[scores.argmax()] == answer.prediction.dl.label.value


def test_int8_agrees_as_the_contract_declares_and_every_run_makes_the_same_bytes(traffic: Path) -> None:
    runs = [calibrate(traffic, name) for name in ("a.onnx", "b.onnx")]
    assert [run.returncode for run in runs] == [0, 0], runs[0].stderr
    told = json.loads(runs[0].stdout)
    assert (told["calibration_records"], told["held_out_records"], told["labels"]) == (100, 400, 400)
    assert told["declared_agreement"] == 0.99
    assert told["agreement"] >= 0.99
    models = [(traffic.parent / name).read_bytes() for name in ("a.onnx", "b.onnx")]
    assert models[0] == models[1]
    assert len(models[0]) < MODEL.stat().st_size / 3
    stamp = read_stamp(traffic.parent / "a.onnx")
    assert stamp is not None
    assert stamp.calibration is not None
    assert (stamp.calibration["steps"], stamp.calibration["steps_version"]) == (STEP, "standard_v3_3")
    assert stamp.calibration["fingerprint"] == IDENTIFY_REQUEST.fingerprint


def test_what_agrees_less_is_refused(traffic: Path) -> None:
    """All operators with default settings, per tensor: what a calibration without a judge would have shipped."""
    operators = ("--operators", "Conv", "MatMul", "Add", "Mul", "Reshape", "Concat", "Transpose", "Squeeze", "Slice")
    run = calibrate(traffic, "worse.onnx", "--per-tensor", *operators)
    assert run.returncode == 1, run.stderr
    told = json.loads(run.stdout)
    assert told["agreement"] < told["declared_agreement"]
    assert not (traffic.parent / "worse.onnx").exists()
