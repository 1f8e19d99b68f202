"""A real model beside its contract: magika's, whose 214 labels stand in its own configuration."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import magika
import numpy as np
import pytest

from acme.inference.v1.content_type_contract import CONTENT_TYPE_INPUT, CONTENT_TYPE_OUTPUT, IDENTIFY_RESPONSE
from protocontract.models import Expected, Model, compare, read_labels
from protocontract.models.tensorrt import BatchSizes, profiles, warm_up

FOLDER = Path(magika.__file__).parent / "models" / "standard_v3_3"
EXPECTED = Expected(CONTENT_TYPE_INPUT, CONTENT_TYPE_OUTPUT, IDENTIFY_RESPONSE)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model(FOLDER / "model.onnx", threads=1)


def test_the_model_fits_its_contract(model: Model) -> None:
    labels = read_labels(f"{FOLDER / 'config.min.json'}#target_labels_space")
    found = compare(model.path, model.signature, EXPECTED, labels)
    assert found.differences == ()
    assert len(labels.names) == 214


def test_labels_in_another_order_do_not(model: Model, tmp_path: Path) -> None:
    """The labels of yesterday: one class more at the front, all others moved."""
    config = json.loads((FOLDER / "config.min.json").read_text())
    names = config["target_labels_space"]
    moved = tmp_path / "model.onnx.labels.json"
    moved.write_text(json.dumps(["new", *names[:-1]]))
    shutil.copy(model.path, tmp_path / "model.onnx")
    (only,) = compare(tmp_path / "model.onnx", model.signature, EXPECTED).differences
    assert "says that class 0 is `new`" in only.model
    assert only.contract == "the contract says `3gp`, 214 of 214 classes differ"


def test_it_runs_on_what_it_is_warmed_up_with(model: Model) -> None:
    batches = BatchSizes(32, (1, 32))
    assert [profile.max for profile in profiles(CONTENT_TYPE_INPUT, batches)] == [
        {"bytes": (1, 2048)},
        {"bytes": (32, 2048)},
    ]
    for inputs in warm_up(CONTENT_TYPE_INPUT, batches):
        scores = model.run(inputs).outputs["target_label"]
        assert scores.shape == (len(inputs["bytes"]), 214)
        assert np.allclose(scores.sum(axis=1), 1, atol=1e-3)


def test_rows_that_fill_a_batch_up_change_no_label(model: Model) -> None:
    batches = BatchSizes(8, (8,))
    inputs = {"bytes": np.random.default_rng(3).integers(0, 257, (5, 2048)).astype("int32")}
    alone = [model.run({"bytes": inputs["bytes"][row : row + 1]}).outputs["target_label"] for row in range(5)]
    filled = model.run(batches.fill(inputs, 5)).outputs["target_label"][:5]
    assert np.allclose(np.concatenate(alone), filled, atol=1e-5)
    assert (np.concatenate(alone).argmax(axis=1) == filled.argmax(axis=1)).all()
