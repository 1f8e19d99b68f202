"""What a contract says about its tensors and labels."""

from __future__ import annotations

import subprocess
import sys

from acme.inference.v1.model_service_contract import ENTITY_MODEL_INPUT, PREDICT_REQUEST, PREDICT_RESPONSE
from acme.pipeline.v1.pipeline_contract import TOKENIZER_OUTPUT
from protocontract.loading import compiler
from protocontract.tensors import ClassLabel, Dim, LabelField, Norm, Pad, TensorField
from tests.compiler.sources import CONTRACTS
from tests.tensors.support import contracts


def test_generated_contracts_and_those_of_dynamic_mode_say_the_same() -> None:
    dynamic = compiler("load_protos")([CONTRACTS / "acme"], CONTRACTS)
    for contract in (PREDICT_REQUEST, PREDICT_RESPONSE, ENTITY_MODEL_INPUT, TOKENIZER_OUTPUT):
        assert contract.tensors == dynamic[contract.full_name].tensors != ()


def test_tensors_of_messages_inside_are_reached_by_path() -> None:
    assert [(field.path, field.name, str(field)) for field in PREDICT_REQUEST.tensors] == [
        ("entity_model.input_ids", "input_ids", "int64[batch, 256]"),
        ("entity_model.attention_mask", "attention_mask", "int64[batch, 256]"),
        ("encoder.input_ids", "input_ids", "int64[tokens]"),
        ("encoder.attention_mask", "attention_mask", "int64[tokens]"),
    ]
    assert [field.path for field in contracts()["Image"].tensors] == [
        "pixels", "regions[].box", "regions[].crop", "named[].box", "named[].crop", "rows.x", "rows.y", "rows.extra",
        "vector.x",
    ]  # fmt: skip


def test_all_options_of_a_tensor() -> None:
    batch = Dim("batch", None, 1, 32)
    assert ENTITY_MODEL_INPUT.tensors[0] == TensorField(
        "input_ids", "input_ids", "int64", (batch, Dim(size=256)), shape_field="shape", batched=True,
        pad=Pad(0.0, "right"), min=0.0, max=249999.0, line=ENTITY_MODEL_INPUT.tensors[0].line,
    )  # fmt: skip
    # The bounds of a name hold wherever it recurs.
    assert ENTITY_MODEL_INPUT.tensors[1].dims == (batch, Dim(size=256))
    vector = PREDICT_RESPONSE.tensors[-1]
    assert (vector.l2_norm, vector.finite, vector.min) == (Norm(1.0, 0.001), True, None)
    pixels = contracts()["Image"].tensors[0]
    assert (pixels.pad, pixels.truncate) == (Pad(128.0, "left"), True)


def test_the_place_of_a_tensor_is_that_of_its_annotation() -> None:
    lines = (CONTRACTS / ENTITY_MODEL_INPUT.source).read_text().splitlines()
    for field in ENTITY_MODEL_INPUT.tensors:
        assert "tensor" in lines[field.line - 1]


def test_a_sequence_of_numbers_is_a_tensor_along_the_list_whose_length_it_has() -> None:
    found = {field.name: str(field) for field in contracts()["Bare"].tensors}
    assert found == {"ids": "int64[tokens]", "positions": "uint32[tokens]", "weights": "float32[tokens]"}
    assert str(TOKENIZER_OUTPUT.tensors[2]) == "int64[tokens]"


def test_labels() -> None:
    labels = {field.path: field for field in contracts()["Sentence"].labels}
    tokens = Dim("tokens", None, 1, 512)
    assert labels["token_labels"] == LabelField("token_labels", 7, -100, (tokens,), line=labels["token_labels"].line)
    assert labels["topic"].ignore_index == -1
    sentiment = labels["sentiment"]
    assert sentiment.num_classes == 3
    assert sentiment.classes == (
        ClassLabel(0, "SENTIMENT_NEGATIVE", "negative"),
        ClassLabel(1, "SENTIMENT_NEUTRAL"),
        ClassLabel(2, "SENTIMENT_POSITIVE", "positive"),
    )
    assert [each.text for each in sentiment.classes] == ["negative", "SENTIMENT_NEUTRAL", "positive"]
    assert {field.path: field.dims for field in contracts()["Bare"].labels} == {
        "classes": (Dim("tokens"),), "kind": (), "moods": (Dim("moods"),),
    }  # fmt: skip


def test_tensors_of_another_file_say_where_they_are_declared() -> None:
    """A message that holds itself is gone into once."""
    holder = contracts()["Holder"]
    assert [(field.path, field.name, field.source) for field in holder.tensors] == [
        ("prompt.ids", "tokens.in", "features/v1/features.proto")
    ]
    assert [(field.path, field.source) for field in holder.labels] == [
        ("mood", ""),
        ("prompt.labels", "features/v1/features.proto"),
    ]


def test_a_contract_with_tensors_needs_no_numpy_to_be_imported() -> None:
    script = (
        "import sys, acme.inference.v1.model_service_contract as module;"
        "print(module.PREDICT_REQUEST.tensors[0].dtype, 'numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout.split() == ["int64", "False"]
