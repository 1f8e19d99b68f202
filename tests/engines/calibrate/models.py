"""Small ONNX models: a linear classifier of eight numbers, and what a calibration must refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH, CLASSES = 8, 5


def classifier(path: Path, *, name: str = "x", operator: str = "MatMul", element: int = TensorProto.FLOAT) -> Path:
    """``name`` float[N, 8] times a matrix gives ``scores`` float[N, 5]; ``operator`` Mul has no MatMul in it."""
    shape = (WIDTH, CLASSES) if operator == "MatMul" else (1, WIDTH)
    weights = np.random.default_rng(1).normal(size=shape).astype("float32")
    first = [helper.make_node("Cast", [name], ["floats"], to=TensorProto.FLOAT)]
    graph = helper.make_graph(
        [*first, helper.make_node(operator, ["floats", "weights"], ["scores"])],
        "classifier",
        [helper.make_tensor_value_info(name, element, ["N", WIDTH])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", shape[1]])],
        [numpy_helper.from_array(weights, "weights")],
    )
    _save(graph, path)
    return path


def two_outputs(path: Path) -> Path:
    """The classifier with its scores twice, and once summed up."""
    model = onnx.load(str(classifier(path)))
    model.graph.node.append(helper.make_node("Identity", ["scores"], ["others"]))
    model.graph.node.append(helper.make_node("ReduceMax", ["scores"], ["highest"], keepdims=0))
    model.graph.output.append(helper.make_tensor_value_info("others", TensorProto.FLOAT, ["N", CLASSES]))
    model.graph.output.append(helper.make_tensor_value_info("highest", TensorProto.FLOAT, []))
    onnx.save(model, str(path))
    return path


def _save(graph: Any, path: Path) -> None:
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
