"""Rounding: the same rows in batches of any size, with any number of threads, on each provider that is here.

`make test` has the CPU alone. `.ci/elsewhere` runs this again where onnxruntime-openvino has taken onnxruntime's place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from onnx import helper, numpy_helper

from protocontract.models import Model, Provider
from tests.models.providers import save

ROWS, WIDTH = 33, 96
# Largest difference of a score (they are between 0 and 1), for sums of 96 floats in another order, three times over.
MAX_ABS = 1e-5
HERE = [name for name in ("cpu", "openvino") if Provider(name).runtime_name in ort.get_available_providers()]


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three layers and a softmax."""
    random = np.random.default_rng(7)
    nodes, weights, last = [], [], "x"
    for number in range(3):
        matrix = random.normal(size=(WIDTH, WIDTH)).astype("float32") / np.sqrt(np.float32(WIDTH))
        weights.append(numpy_helper.from_array(matrix, f"w{number}"))
        nodes.append(helper.make_node("MatMul", [last, f"w{number}"], [f"m{number}"]))
        nodes.append(helper.make_node("Tanh", [f"m{number}"], [f"t{number}"]))
        last = f"t{number}"
    nodes.append(helper.make_node("Softmax", [last], ["scores"], axis=-1))
    return save(tmp_path_factory.mktemp("layers") / "layers.onnx", nodes, weights, ["N", WIDTH])


def one_by_one(path: Path, rows: Any) -> Any:
    model = Model(path, threads=1)
    return np.concatenate([model.run({"x": rows[row : row + 1]}).outputs["scores"] for row in range(len(rows))])


@pytest.mark.parametrize("provider", HERE)
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_rows_come_out_alike(layers: Path, provider: str, threads: int) -> None:
    rows = np.random.default_rng(8).normal(size=(ROWS, WIDTH)).astype("float32")
    expected = one_by_one(layers, rows)
    model = Model(layers, [Provider(provider)], threads=threads)
    assert model.provider == provider
    for size in (1, 2, 7, 16, ROWS):
        parts = [model.run({"x": rows[at : at + size]}) for at in range(0, ROWS, size)]
        found = np.concatenate([part.outputs["scores"] for part in parts])
        assert np.abs(found - expected).max() <= MAX_ABS
        assert (found.argmax(axis=1) == expected.argmax(axis=1)).all()
        assert {part.facts["provider"] for part in parts} == {provider}
