"""S27 on a real second provider, where onnxruntime-openvino has taken onnxruntime's place: it has no determinant."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper

from protocontract.models import Model, NoProvider, Provider
from tests.models.providers import save


def test_s27_a_node_that_the_provider_does_not_take(tmp_path: Path) -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Det", ["m"], ["scores"], name="odd")]
    path = save(tmp_path / "m.onnx", nodes, [numpy_helper.from_array(np.eye(8, dtype="float32"), "w")], [8, 8])
    silent = ort.InferenceSession(str(path), providers=["OpenVINOExecutionProvider"])
    assert silent.get_providers()[0] == "OpenVINOExecutionProvider"  # which says nothing
    with pytest.raises(NoProvider) as caught:
        Model(path, [Provider("openvino")])
    assert caught.value.attempts[0].reason == "1 of 2 nodes run elsewhere: 1 Det on cpu"
    for allowed in ("Det", "odd"):
        model = Model(path, [Provider("openvino", elsewhere={"cpu": (allowed,)})])
        assert [name for name, _ in model.identity.providers] == ["openvino", "cpu"]
        given = np.diag(np.arange(1, 9, dtype="float32"))
        ran = model.run({"x": given})
        assert ran.outputs["scores"] == pytest.approx(40320)
        assert (ran.facts["provider"], ran.facts["elsewhere"]) == ("openvino", "1 Det on cpu")
