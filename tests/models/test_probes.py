"""Probes: what is written is what is read, of one model and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from protocontract.models import Model
from protocontract.models.agreement import compare_runs, labelled_outputs
from protocontract.models.probes import Probes, stacked
from protocontract.models.signature import Port, Signature
from protocontract.tensors.tolerance import Tolerance
from protocontract.violations import ContractError
from tests.models.support import model


def rows(count: int, seed: int = 2) -> dict[str, Any]:
    return {"x": np.random.default_rng(seed).normal(size=(count, 8)).astype("float32")}


def test_there_and_back(tmp_path: Path) -> None:
    path = model(tmp_path / "m.onnx", extra=True)
    engine = Model(path, threads=1)
    made = Probes.make(engine, [rows(3), rows(1)], {"seed": 0})
    file = Probes.path_of(path)
    assert file.name == "m.onnx.probes.npz"
    made.write(file)
    found = Probes.read(file)
    assert (found.model_sha256, found.rows, len(found.probes)) == (engine.identity.sha256, 4, 2)
    assert found.about["provider"] == "cpu"
    assert found.about["identity"] == engine.identity.digest
    for before, after in zip(made.probes, found.probes, strict=True):
        for one, other in ((before.inputs, after.inputs), (before.outputs, after.outputs)):
            assert one.keys() == other.keys()
            assert all(np.array_equal(one[name], other[name]) for name in one)
    assert set(found.probes[0].outputs) == {"scores", "sums"}
    first = file.read_bytes()
    made.write(file)
    assert file.read_bytes() == first
    found.demand_of("m.onnx", engine.identity.sha256)
    with pytest.raises(ContractError, match=r"the probes are of another model than m.onnx; expected those of 0{12}, "):
        found.demand_of("m.onnx", "0" * 64)


def test_what_holds_no_probes(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx.probes.npz"
    for content in (b"", b"no archive", b"PK\x05\x06" + bytes(18)):
        file.write_bytes(content)
        with pytest.raises(ContractError, match=r"^m.onnx.probes.npz holds no probes \("):
            Probes.read(file)
    np.savez(file, about=np.array([object()], dtype=object))  # would have to be unpickled
    with pytest.raises(ContractError, match="holds no probes"):
        Probes.read(file)
    np.savez(file, about=np.array('{"schema": "protocontract.probes/9", "model": ""}'))
    with pytest.raises(ContractError, match=r"has the schema protocontract.probes/9; expected protocontract.probes/1"):
        Probes.read(file)
    np.savez(file, about=np.array('{"schema": "protocontract.probes/1", "model": ""}'))
    with pytest.raises(ContractError, match="holds no probe; expected one at least"):
        Probes.read(file)
    with pytest.raises(ContractError, match="no inputs to make probes"):
        Probes.make(Model(model(tmp_path / "m.onnx")), [], {})


def test_samples_of_one_shape_are_put_together() -> None:
    long, short = np.zeros((1, 5)), np.zeros((2, 3))
    found = stacked([{"x": long}, {"x": short}, {"x": long}, {"x": short}, {"x": short}], 4)
    assert sorted(each["x"].shape for each in found) == [(2, 3), (2, 5), (4, 3)]


SIGNATURE = Signature(
    (),
    (
        Port("scores", "float32", ("N", 3)),
        Port("label", "int64", ("N",)),
        Port("norm", "float32", ("N", 1)),
        Port("names", "tensor(string)", ("N",)),
    ),
    {},
)


def test_which_outputs_have_labels() -> None:
    assert labelled_outputs(SIGNATURE) == ("scores", "label")
    assert labelled_outputs(SIGNATURE, ["scores"]) == ("scores",)
    with pytest.raises(ContractError, match="no output odd; expected scores, label, norm, names"):
        labelled_outputs(SIGNATURE, ["odd"])


def scores(*found: list[float]) -> dict[str, Any]:
    return {"scores": np.array(found, "float32")}


@pytest.mark.parametrize(
    ("now", "before", "same"),
    [
        ([0.1, 0.7, 0.2], [0.2, 0.7, 0.1], 1),
        ([0.7, 0.1, 0.2], [0.2, 0.7, 0.1], 0),
        ([0.40, 0.41, 0.19], [0.41, 0.40, 0.19], 1),  # no further apart than twice the tolerance
        ([0.38, 0.43, 0.19], [0.43, 0.38, 0.19], 0),
        ([float("nan"), 0.7, 0.2], [0.2, 0.7, 0.1], 0),
        ([float("nan"), 0.7, 0.2], [float("nan"), 0.7, 0.2], 0),
    ],
)
def test_s08_labels_are_equal_unless_their_margin_is_below_the_tolerance(
    now: list[float], before: list[float], same: int
) -> None:
    found = compare_runs([(scores(now), scores(before))], tolerance=Tolerance(0.01), labelled=["scores"])
    assert (found.same, found.labels) == (same, 1)


def test_without_a_tolerance_every_label_counts() -> None:
    found = compare_runs(
        [(scores([0.40, 0.41]), scores([0.41, 0.40])), (scores([0.0, 1.0]), scores([0.1, 0.9]))],
        tolerance=None,
        labelled=["scores"],
    )
    assert (found.same, found.labels, found.share, found.reason) == (1, 2, 0.5, "")
    assert found.max_abs == pytest.approx(0.1)
    assert found.at_least(0.5)
    assert not found.at_least(0.51)


def test_integers_are_labels_or_have_to_be_equal() -> None:
    one, other = ({"label": np.array(found)} for found in ([1, 2, 3], [1, 2, 4]))
    assert compare_runs([(one, other)], tolerance=None, labelled=["label"]).same == 2
    assert compare_runs([(one, other)], tolerance=None).reason == "output label has other values, in 1 of 1 runs"


def test_bfloat16_is_compared_as_numbers() -> None:
    one, other = ({"y": np.array([[bits]], "uint16")} for bits in (0x3F80, 0x3F81))  # 1.0, 1.0078125
    found = compare_runs([(one, other)], tolerance=Tolerance(0.01), bfloat16=["y"])
    assert found.reason == ""
    assert found.max_abs == pytest.approx(0.0078125)


def test_other_outputs_are_told() -> None:
    found = compare_runs([({}, scores([0.1]))], tolerance=None, labelled=["scores"])
    assert (found.reason, found.same, found.labels) == ("other outputs, in 1 of 1 runs", 0, 1)
