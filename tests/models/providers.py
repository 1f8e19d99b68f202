"""What the tests of providers share. Needs no compiler, so that they run beside another build of onnxruntime."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper


def save(path: Path, nodes: list[Any], weights: list[Any], dims: list[Any]) -> Path:
    """A model of ``nodes`` from x to scores, both floats of ``dims``."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name in ("x", "scores")]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8), str(path))
    return path
