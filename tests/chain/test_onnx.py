"""A real ONNX model: requests that share a padded batch are replayed alone, within the declared tolerance."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from protocontract.chain import EvidenceLog, ValueStore, digest, verify
from protocontract.chain.replay import Replay
from protocontract.models import Model
from protocontract.tensors.tolerance import Tolerance

NAME = "tests.chain.test_onnx"
WIDTH, CLASSES = 512, 5


def network(path: Path, seed: int) -> Path:
    """Two MatMuls and a Tanh between them: sums of floats, whose order depends on the batch size."""
    draw = np.random.default_rng(seed)
    weights = [draw.normal(size=size).astype("float32") for size in ((WIDTH, WIDTH), (WIDTH, CLASSES))]
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "first"], ["hidden"]),
            helper.make_node("Tanh", ["hidden"], ["bent"]),
            helper.make_node("MatMul", ["bent", "second"], ["scores"]),
        ],
        "network",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", WIDTH])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", CLASSES])],
        [numpy_helper.from_array(array, name) for array, name in zip(weights, ("first", "second"), strict=True)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(path))
    return path


def preprocess(numbers: Any) -> Any:
    return {"x": np.resize(np.array(numbers, "float32"), (1, WIDTH))}


def postprocess(arrays: Any) -> Any:
    return int(arrays["scores"].argmax())


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """Three requests in one batch that was padded to eight rows."""
    model = Model(network(tmp_path / "model.onnx", 1))
    store = ValueStore(tmp_path / "kept")
    with EvidenceLog(tmp_path / "log") as log:
        recorders = [log.record(f"request-{number}") for number in range(3)]
        rows = [
            recorder.run(preprocess, "preprocess", [number + 0.5, 1.0, -2.0], module=f"{NAME}:preprocess", keep=store)
            for number, recorder in enumerate(recorders)
        ]
        padded = np.zeros((8, WIDTH), "float32")
        padded[:3] = np.concatenate([row["x"] for row in rows])
        before = time.perf_counter_ns()
        ran = model.run({"x": padded})
        took = time.perf_counter_ns() - before
        for number, recorder in enumerate(recorders):
            own = {"scores": ran.outputs["scores"][number : number + 1]}
            recorder.step(
                "infer",
                module="protocontract.chain.infer:infer",
                version="1",
                nanoseconds=took,
                digest_in=store.put(rows[number]),
                digest_out=store.put(own),
                facts={**ran.facts, "batch_size": 3, "padded_to": 8, "max_abs": 1e-3, "max_rel": 1e-4},
            )
            recorder.run(postprocess, "postprocess", own, module=f"{NAME}:postprocess", keep=store)
            assert recorder.close().proven
    return tmp_path


def test_rows_of_a_batch_are_replayed_alone(served: Path) -> None:
    assert verify(served / "log").closed == 3
    found = list(Replay(ValueStore(served / "kept"), model=served / "model.onnx").records(served / "log"))
    assert len(found) == 3
    for record in found:
        assert record.first is None, record.first
        assert [stage.step.name for stage in record.stages] == ["preprocess", "infer", "postprocess"]
        assert record.stages[0].outcome == record.stages[2].outcome == "exact"
        assert record.stages[1].outcome in ("exact", "within")


def test_the_digest_is_that_of_the_own_rows(served: Path) -> None:
    """It does not tell in which company the request was, nor how far the batch was padded."""
    [record] = Replay(ValueStore(served / "kept"), model=served / "model.onnx").records(served / "log", "request-1")
    assert record.stages[1].step.digest_in == digest(preprocess([1.5, 1.0, -2.0]))


def test_another_model_is_refused_and_other_weights_differ(served: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = network(served / "other.onnx", 2)
    store = ValueStore(served / "kept")
    [record] = Replay(store, model=other).records(served / "log", "request-0")
    assert record.first is not None
    assert (record.first.step.name, record.first.outcome) == ("infer", "differs")
    assert record.first.reason.startswith("another model")
    # Even if somebody says that it is the same file.
    held = Replay(store, model=other, tolerance=Tolerance(1e-3, 1e-4))
    monkeypatch.setattr(held, "_models", {record.first.step.facts["model"]: other})
    [record] = held.records(served / "log", "request-0")
    assert record.first is not None
    assert record.first.step.name == "infer"
    assert "expected at most 0.001 + 0.0001 of the recorded value" in record.first.reason
