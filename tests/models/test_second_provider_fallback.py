"""Declared degradation on a real second provider: from OpenVINO to the CPU, and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper, numpy_helper

from protocontract.models import Degrading, Fallback, Model, Probes, Provider, with_fallback
from tests.models.breaking import Breaking
from tests.models.providers import save

OPENVINO = Provider("openvino", {"device_type": "CPU"})
FALLBACK = Fallback(provider="cpu", max_abs=1e-5, max_rel=1e-4, label_agreement=0.99, sticky=True, probe_every=30.0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    weights = np.random.default_rng(1).normal(size=(8, 8)).astype("float32")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["sums"]),
        helper.make_node("Softmax", ["sums"], ["scores"], axis=-1),
    ]
    made = save(tmp_path / "m.onnx", nodes, [numpy_helper.from_array(weights, "w")], ["N", 8])
    rows = np.random.default_rng(2).normal(size=(64, 8)).astype("float32")
    Probes.make(Model(made, (OPENVINO,)), [{"x": rows}], {}).write(Probes.path_of(made))
    return made


def test_s28_from_openvino_to_the_cpu_and_back(path: Path) -> None:
    """The device's failure is put in front of it: a real one cannot be had on purpose."""

    class Device(Breaking):
        def __init__(self) -> None:
            super().__init__(path, "openvino", "openvino")

    started: list[Device] = []

    def start() -> Device:
        started.append(Device())
        return started[-1]

    engine = with_fallback(path, FALLBACK, start, background=False)
    assert isinstance(engine, Degrading)
    assert [str(each).partition(": ")[0] for each in engine.checked] == [
        "m.onnx on openvino beside its probes",
        "m.onnx on cpu beside m.onnx on openvino",
    ]
    rows = {"x": np.random.default_rng(3).normal(size=(33, 8)).astype("float32")}
    before = engine.run(rows)
    started[0].kind = "memory"
    ran = engine.run(rows)
    assert (before.provider, ran.provider) == ("openvino", "cpu")
    assert ran.facts["attempts"] == "openvino failed (memory); cpu"
    assert ran.facts["identity"] != before.facts["identity"]
    gaps = np.abs(ran.outputs["scores"] - before.outputs["scores"])
    assert (gaps <= FALLBACK.max_abs + FALLBACK.max_rel * np.abs(before.outputs["scores"])).all()
    assert engine.probe()  # started anew
    assert len(started) == 2
    assert engine.run(rows).provider == "openvino"
