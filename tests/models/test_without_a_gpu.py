"""The build of onnxruntime for NVIDIA, where there is no device: it lists its providers and runs on the CPU; we refuse.

In an environment of its own (`.ci/elsewhere`): its wheel brings the module onnxruntime too.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper

from protocontract.models import Model, NoProvider, Provider
from tests.models.providers import save

pytestmark = pytest.mark.skipif(Path("/proc/driver/nvidia").exists(), reason="here is a device of NVIDIA's")


def model(path: Path) -> Path:
    """``x`` [N, 8] as it is, by way of a product."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["scores"])]
    return save(path, nodes, [numpy_helper.from_array(np.eye(8, dtype="float32"), "w")], ["N", 8])


def test_onnxruntime_itself_says_nothing(tmp_path: Path) -> None:
    """Why all of this is needed."""
    ort.set_default_logger_severity(4)
    assert {"CUDAExecutionProvider", "TensorrtExecutionProvider"} <= set(ort.get_available_providers())
    session = ort.InferenceSession(str(model(tmp_path / "m.onnx")), providers=["CUDAExecutionProvider"])
    assert session.run(None, {"x": np.zeros((2, 8), "float32")})[0].shape == (2, 8)
    assert session.get_providers() == ["CPUExecutionProvider"]


@pytest.mark.parametrize("name", ["cuda", "tensorrt"])
def test_a_declared_device_that_is_not_there_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        NoProvider, match=rf"refused to start: m\.onnx cannot run on {name}: the library \S+ is missing"
    ):
        Model(model(tmp_path / "m.onnx"), Provider.parse(name))


def test_a_declared_way_out_is_taken_and_said(tmp_path: Path) -> None:
    running = Model(model(tmp_path / "m.onnx"), Provider.parse("tensorrt,cuda,cpu"))
    ran = running.run({"x": np.zeros((2, 8), "float32")})
    assert (running.provider, ran.provider) == ("cpu", "cpu")
    assert [attempt.provider for attempt in running.skipped] == ["tensorrt", "cuda"]
