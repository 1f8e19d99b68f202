"""A model beside the contracts: everything that does not fit, at once, with both sides and the contract's place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper

from acme.inference.v1.content_type_contract import CONTENT_TYPE_INPUT, CONTENT_TYPE_OUTPUT, IDENTIFY_RESPONSE
from acme.inference.v1.model_service_contract import ENTITY_MODEL_INPUT, ENTITY_MODEL_OUTPUT, PREDICT_REQUEST
from protocontract.card import Stamp, write_stamp
from protocontract.contract import Contract
from protocontract.evidence import data_versions
from protocontract.models import (
    Comparison,
    Expected,
    Labels,
    ModelMismatch,
    Port,
    Signature,
    compare,
    read_labels,
    read_signature,
)
from protocontract.violations import ContractError
from tests.models.support import contracts, line_of, model

Zoo = Mapping[str, Contract[Any]]


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Zoo:
    return contracts(tmp_path_factory.mktemp("zoo"))


def compared(path: Path, zoo: Zoo, labels: Labels | None = None, **expected: Any) -> Comparison:
    wanted = replace(Expected(zoo["In"], zoo["Out"]), **expected)
    return compare(path, read_signature(path), wanted, labels)


def texts(found: Comparison) -> list[str]:
    return [str(each) for each in found.differences]


def test_a_model_that_fits(tmp_path: Path, zoo: Zoo) -> None:
    found = compared(model(tmp_path / "m.onnx", metadata={"labels": '["dog", "cat", "cavy"]'}), zoo)
    found.demand()
    assert found.notes == ("m.onnx has no stamp: what it was trained on is not compared",)


def test_the_founding_example(tmp_path: Path) -> None:
    """experience.md: a model of 128 tokens under a contract of 256."""
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", 128]) for name in ("input_ids", "mask")]
    inputs[1].name = "attention_mask"
    del inputs[1].type.tensor_type.shape.dim[1]
    inputs[1].type.tensor_type.shape.dim.add().dim_value = 256
    nodes = [helper.make_node("Cast", ["input_ids"], ["logits"], to=TensorProto.FLOAT)]
    output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, None)
    made = helper.make_model(
        helper.make_graph(nodes, "g", inputs, [output]), opset_imports=[helper.make_opsetid("", 15)], ir_version=8
    )
    onnx.save(made, str(tmp_path / "model.onnx"))
    ports = read_signature(tmp_path / "model.onnx")
    # A model does not have to say the shape of its outputs.
    signature = replace(ports, outputs=(Port("logits", "float32", ("batch", 256, 7)),))
    found = compare(tmp_path / "model.onnx", signature, Expected(ENTITY_MODEL_INPUT, ENTITY_MODEL_OUTPUT))
    (line,) = [field.line for field in ENTITY_MODEL_INPUT.tensors if field.name == "input_ids"]
    with pytest.raises(ModelMismatch) as caught:
        found.demand()
    assert str(caught.value) == (
        "refused to start: model.onnx input `input_ids` is int64[batch, 128]; the contract says int64[batch, 256]"
        f" (acme/inference/v1/model_service.proto:{line})"
    )


def test_everything_at_once(tmp_path: Path, zoo: Zoo) -> None:
    path = model(
        tmp_path / "m.onnx", name="y", dims=("N", 9), output="probabilities", element=TensorProto.INT32,
        metadata={"labels": "cat,dog,cavy"},
    )  # fmt: skip
    write_stamp(Stamp("zoo.v1.In", "1.0.0", "0" * 64, {**dict(data_versions()), "Babel": "1.0"}), path)
    with pytest.raises(ModelMismatch) as caught:
        compared(path, zoo).demand()
    first, *lines = str(caught.value).splitlines()
    assert first == "refused to start: "
    babel = dict(data_versions())["Babel"]
    ours = zoo["In"].fingerprint[:12]
    assert lines == [
        "  m.onnx takes input `y` int32[N, 9]; zoo.v1.In has no such tensor, only `x` (zoo.proto)",
        f"  m.onnx has no input `x`, only `y`; the contract says float32[rows, 8] (zoo.proto:{line_of('features')})",
        "  m.onnx has no output `scores`, only `probabilities`; the contract says float32[rows, 3]"
        f" (zoo.proto:{line_of('scores = 1')})",
        "  m.onnx says that class 0 is `cat` (m.onnx metadata labels); the contract says `ANIMAL_DOG`, 2 of 3 classes"
        f" differ (zoo.proto:{line_of('animal = 2')})",
        f"  m.onnx was trained under zoo.v1.In 1.0.0 (fingerprint {'0' * 12}); the service has 2.0.0"
        f" (fingerprint {ours}) (zoo.proto)",
        f"  m.onnx was trained on texts normalised with Babel 1.0; the service has {babel}",
    ]


@pytest.mark.parametrize(
    ("dims", "fits"),
    [
        (("N", 8), True),
        (("anything", 8), True),  # a free axis counts by its place, not by its name
        ((None, 8), True),
        (("N", "M"), True),  # takes more than the contract lets pass
        ((16, 8), False),  # takes 16 rows alone, where 1 to 16 may come
        (("N", 9), False),
        (("N", 8, 1), False),
        ((8,), False),
    ],
)
def test_axes(zoo: Zoo, tmp_path: Path, dims: tuple[int | str | None, ...], fits: bool) -> None:
    signature = Signature((Port("x", "float32", dims),), (Port("scores", "float32", ("N", 3)),), {})
    path = model(tmp_path / "m.onnx")
    found = compare(path, signature, Expected(zoo["In"], zoo["Out"]))
    assert (found.differences == ()) is fits
    if dims == (16, 8):
        assert "float32[16, 8]; the contract says float32[rows, 8] with rows from 1 to 16" in texts(found)[0]


def test_a_dtype_that_is_another(tmp_path: Path, zoo: Zoo) -> None:
    found = compared(model(tmp_path / "m.onnx", element=TensorProto.DOUBLE), zoo)
    assert texts(found) == [
        "m.onnx input `x` is float64[N, 8]; the contract says float32[rows, 8]"
        f" (zoo.proto:{line_of('features')})"
    ]  # fmt: skip


def test_an_output_that_is_no_tensor(tmp_path: Path, zoo: Zoo) -> None:
    """What scikit-learn's converters give by default."""
    signature = Signature((Port("x", "float32", ("N", 8)),), (Port("scores", "seq(map(int64,tensor(float)))", ()),), {})
    found = compare(model(tmp_path / "m.onnx"), signature, Expected(zoo["In"], zoo["Out"]))
    assert (
        "m.onnx output `scores` is seq(map(int64,tensor(float)))[]; the contract says float32[rows, 3]"
        in texts(found)[0]
    )


def test_an_output_that_nobody_asks_for_is_said(tmp_path: Path, zoo: Zoo) -> None:
    found = compared(model(tmp_path / "m.onnx", extra=True), zoo)
    assert found.differences == ()
    assert "m.onnx output `sums` float32[N, 3] is not in zoo.v1.Out: not asked for" in found.notes


def test_samples_that_are_not_batched_are_stacked(tmp_path: Path, zoo: Zoo) -> None:
    ports = (Port("ids", "int64", ("b", "t")), Port("mask", "int64", ("b", "t")))
    outputs = (Port("scores", "float32", ("b", 3)),)
    expected = Expected(zoo["Sentence"], zoo["Out"])
    path = model(tmp_path / "m.onnx")
    assert compare(path, Signature(ports, outputs, {}), expected).differences == ()
    fixed = Signature((ports[0], Port("mask", "int64", ("b", 512))), outputs, {})
    # The bounds of a free axis hold for all tensors of the message that have it.
    assert texts(compare(path, fixed, expected)) == [
        "m.onnx input `mask` is int64[b, 512]; the contract says int64[batch, tokens] with tokens from 1 to 512"
        f" (zoo.proto:{line_of('mask = 2')})"
    ]


def test_the_message_has_to_be_of_one_model(tmp_path: Path, zoo: Zoo) -> None:
    path = model(tmp_path / "m.onnx")
    with pytest.raises(
        ContractError, match=r"several tensors named input_ids: entity_model\.input_ids, encoder\.input_ids"
    ):
        compared(path, zoo, request=PREDICT_REQUEST)
    with pytest.raises(ContractError, match=r"IdentifyResponse has no tensors"):
        compared(path, zoo, response=IDENTIFY_RESPONSE)


# -- labels


@pytest.mark.parametrize(
    "metadata",
    [
        {"labels": '["dog", "cat", "cavy"]'},
        {"names": "{0: 'Dog', 1: 'Cat', 2: 'guinea pig'}"},
        {"id2label": '{"2": "ANIMAL_GUINEA_PIG", "1": "cat", "0": "dog"}'},
        {"classes": "dog, cat, guinea-pig"},
    ],
)
def test_labels_in_the_metadata(tmp_path: Path, zoo: Zoo, metadata: dict[str, str]) -> None:
    found = compared(model(tmp_path / "m.onnx", metadata=metadata), zoo)
    assert found.differences == ()
    assert not any("labels" in note for note in found.notes)


def test_labels_beside_the_model(tmp_path: Path, zoo: Zoo) -> None:
    path = model(tmp_path / "m.onnx")
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"}}))
    found = compared(path, zoo)
    assert found.differences == ()  # nobody gave labels
    assert any("does not say the labels" in note for note in found.notes)
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "cat", "1": "dog", "2": "cavy"}}))
    assert "class 0 is `cat` (config.json id2label); the contract says `ANIMAL_DOG`" in texts(compared(path, zoo))[0]
    (tmp_path / "m.labels.txt").write_text("cat\ndog\n")
    assert "class 0 is `cat` (m.labels.txt); the contract says `ANIMAL_DOG`" in texts(compared(path, zoo))[0]
    (tmp_path / "m.onnx.labels.txt").write_text("dog\ncat\n")
    (only,) = texts(compared(path, zoo))
    assert "class 2 is none (m.onnx.labels.txt); the contract says `cavy`, 1 of 3 classes differ" in only
    (tmp_path / "m.onnx.labels.json").write_text('["dog", "cat", "cavy"]')
    assert compared(path, zoo).differences == ()


def test_as_many_scores_as_classes(tmp_path: Path, zoo: Zoo) -> None:
    found = compared(model(tmp_path / "m.onnx", classes=4), zoo)
    assert [each.kind for each in found.differences] == ["output", "labels"]
    assert "output `scores` is float32[N, 4]; the contract has 3 classes" in texts(found)[1]


@pytest.mark.parametrize("text", ["", "dog", "[1, 2]", "{}", "[[0]]"])
def test_labels_that_are_none(tmp_path: Path, zoo: Zoo, text: str) -> None:
    with pytest.raises(ContractError, match="labels"):
        compared(model(tmp_path / "m.onnx", metadata={"labels": text}), zoo)


def test_the_classes_of_a_contract_with_214(tmp_path: Path) -> None:
    """magika's form: the labels under a key of its configuration, the enum in another message than the scores."""
    names = [each.text for each in IDENTIFY_RESPONSE.labels[0].classes]
    (tmp_path / "config.min.json").write_text(json.dumps({"target_labels_space": names}))
    signature = Signature((Port("bytes", "int32", ("N", 2048)),), (Port("target_label", "float32", ("N", 214)),), {})
    expected = Expected(CONTENT_TYPE_INPUT, CONTENT_TYPE_OUTPUT, IDENTIFY_RESPONSE)
    place = f"{tmp_path / 'config.min.json'}#target_labels_space"
    path = model(tmp_path / "m.onnx")
    assert compare(path, signature, expected, read_labels(place)).differences == ()
    names[7], names[8] = names[8], names[7]
    (tmp_path / "config.min.json").write_text(json.dumps({"target_labels_space": names}))
    (only,) = texts(compare(path, signature, expected, read_labels(place)))
    assert "class 7 is `asp` (config.min.json target_labels_space); the contract says `asm`, 2 of 214 classes" in only
    with pytest.raises(ContractError, match=r"config\.min\.json has no key labels"):
        read_labels(f"{tmp_path / 'config.min.json'}#labels")


# -- the training side


def stamped(tmp_path: Path, stamp: Stamp) -> Path:
    return write_stamp(stamp, model(tmp_path / "m.onnx"))


def test_the_same_training_side(tmp_path: Path, zoo: Zoo) -> None:
    stamp = Stamp("zoo.v1.In", "2.0.0", zoo["In"].fingerprint, dict(data_versions()), "c" * 64)
    path = stamped(tmp_path, stamp)
    found = compared(path, zoo, card_sha256="c" * 64, stamp_required=True)
    assert found.differences == ()
    assert texts(compared(path, zoo, card_sha256="d" * 64)) == [
        f"m.onnx has the data card {'c' * 12}; the service expects {'d' * 12}"
    ]


def test_a_training_contract_that_is_looked_up(tmp_path: Path, zoo: Zoo) -> None:
    stamp = Stamp("zoo.v1.Sentence", "", zoo["Sentence"].fingerprint, dict(data_versions()))
    path = stamped(tmp_path, stamp)
    assert texts(compared(path, zoo)) == [
        "m.onnx was trained under zoo.v1.Sentence; the service has no contract of that name to compare with"
    ]

    def find(name: str) -> Contract[Any]:
        return zoo[name.rpartition(".")[2]]

    assert compared(path, zoo, find=find).differences == ()


def test_a_stamp_that_is_demanded(tmp_path: Path, zoo: Zoo) -> None:
    found = compared(model(tmp_path / "m.onnx"), zoo, stamp_required=True)
    assert texts(found) == ["m.onnx has no stamp of its training; the service expects one"]


def test_data_versions_of_one_side_alone(tmp_path: Path, zoo: Zoo) -> None:
    trained = {**dict(data_versions()), "more": "1"}
    del trained["tzdata"]
    found = compared(stamped(tmp_path, Stamp("zoo.v1.In", "2.0.0", zoo["In"].fingerprint, trained)), zoo)
    assert texts(found) == [
        "m.onnx was trained on texts normalised with more 1; the service has absent",
        f"m.onnx was trained on texts normalised with tzdata absent; the service has {dict(data_versions())['tzdata']}",
    ]
