"""Small ONNX models that fit the contracts of this folder, or in one thing do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from protocontract.contract import Contract
from protocontract_compiler.dynamic import load_protos

PROTO = """
syntax = "proto3";
package zoo.v1;
import "protocontract/v1/contract.proto";

message In {
  option (protocontract.v1.contract) = {version: "2.0.0"};
  bytes features = 1 [(protocontract.v1.field).tensor = {
    name: "x" dtype: FLOAT32 dims: ["rows", "8"] bounds: {key: "rows" value: {min: 1 max: 16}} batched: true
  }];
}
message Out {
  option (protocontract.v1.contract) = {version: "2.0.0"};
  bytes scores = 1 [(protocontract.v1.field).tensor = {
    name: "scores" dtype: FLOAT32 dims: ["rows", "3"] batched: true finite: true
  }];
  Animal animal = 2;
}
enum Animal {
  ANIMAL_UNSPECIFIED = 0;
  ANIMAL_CAT = 1 [(protocontract.v1.value) = {class_index: 1}];
  ANIMAL_DOG = 2 [(protocontract.v1.value) = {class_index: 0}];
  ANIMAL_GUINEA_PIG = 3 [(protocontract.v1.value) = {code: "cavy" class_index: 2}];
}
message Sentence {
  repeated int64 ids = 1 [(protocontract.v1.field).tensor = {
    name: "ids" dtype: INT64 dims: ["tokens"] bounds: {key: "tokens" value: {min: 1 max: 512}} min: 5 max: 90
  }];
  repeated int64 mask = 2 [(protocontract.v1.field).tensor = {name: "mask" dtype: INT64 dims: ["tokens"]}];
}
message Unbounded {
  bytes ids = 1 [(protocontract.v1.field).tensor = {name: "ids" dtype: INT64 dims: ["tokens"]}];
  bytes few = 2 [(protocontract.v1.field).tensor = {
    name: "few" dtype: FLOAT32 dims: ["rows", "2"] batched: true bounds: {key: "rows" value: {max: 4}}
  }];
  bytes odd = 3 [(protocontract.v1.field).tensor = {name: "odd:0" dtype: FLOAT32 dims: ["2"]}];
}
"""


def contracts(folder: Path) -> Mapping[str, Contract[Any]]:
    """The contracts of ``PROTO``, by the last part of their names."""
    (folder / "protos").mkdir(exist_ok=True)
    (folder / "protos" / "zoo.proto").write_text(PROTO)
    found = load_protos([folder / "protos"], proto_path=folder / "protos")
    return {name.rpartition(".")[2]: contract for name, contract in found.items()}


def line_of(text: str) -> int:
    """The line of ``PROTO`` that holds ``text``."""
    return next(number for number, line in enumerate(PROTO.splitlines(), 1) if text in line)


def model(
    path: Path,
    *,
    dims: Sequence[int | str | None] = ("N", 8),
    name: str = "x",
    output: str = "scores",
    element: int = TensorProto.FLOAT,
    classes: int = 3,
    metadata: Mapping[str, str] | None = None,
    extra: bool = False,
    external: str = "",
) -> Path:
    """``name`` [N, 8] times a matrix, softmax of it as ``output`` [N, classes]; ``extra``: the sums as well."""
    width = dims[1] if isinstance(dims[1], int) else 8
    weights = np.random.default_rng(1).normal(size=(width, classes)).astype("float32")
    nodes = [
        helper.make_node("Cast", [name], ["floats"], name="cast", to=TensorProto.FLOAT),
        helper.make_node("MatMul", ["floats", "weights"], ["sums"], name="product"),
        helper.make_node("Softmax", ["sums"], [output], name="scale", axis=-1),
    ]
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, [dims[0], classes])]
    if extra:
        outputs.append(helper.make_tensor_value_info("sums", TensorProto.FLOAT, [dims[0], classes]))
    graph = helper.make_graph(
        nodes, "zoo", [helper.make_tensor_value_info(name, element, list(dims))], outputs,
        [numpy_helper.from_array(weights, "weights")],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    helper.set_model_props(made, dict(metadata or {}))
    if external:
        onnx.save(made, str(path), save_as_external_data=True, location=external, size_threshold=0)
    else:
        onnx.save(made, str(path))
    return path
