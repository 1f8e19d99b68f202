"""Messages to batches of arrays."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acme.inference.v1.model_service_contract import PREDICT_REQUEST
from acme.inference.v1.model_service_pb2 import EncoderInput, EntityModelInput, PredictRequest
from acme.pipeline.v1.pipeline_contract import EMBEDDING, TOKENIZER_OUTPUT
from acme.pipeline.v1.pipeline_pb2 import Embedding, TokenizerOutput
from protocontract.tensors import Batch, Collate, CollateError, digest
from tests.examples import examples
from tests.tensors.support import contracts, sentence, sentences

SENTENCE, BARE, TYPES, IMAGE = (contracts()[name] for name in ("Sentence", "Bare", "Types", "Image"))


def image(height: int, width: int, **given: Any) -> Any:
    pixels = bytes(range(3 * height * width))
    return IMAGE.message_type(**{"pixels": pixels, "shape": [3, height, width], **given})


def rows(count: int, tokens: int, first: float = 0) -> Any:
    x = np.arange(first, first + count * tokens, dtype="<f4").tobytes()
    return {"x": x, "shape": [count, tokens], "y": [1] * count}


# ----------------------------------------------------------------------------------------------------------------------
# Shapes, padding, masks


def test_lists_are_filled_up_as_declared_with_masks() -> None:
    batch = Collate(SENTENCE)(sentences([3, 5, 1]))
    assert batch["input_ids"].tolist() == [[10, 11, 12, 1, 1], [10, 11, 12, 13, 14], [10, 1, 1, 1, 1]]
    assert batch["input_ids"].dtype == "int64"
    assert batch["position_ids"].tolist() == [[0, 1, 2, 0, 0], [0, 1, 2, 3, 4], [0, 0, 0, 0, 0]]
    assert batch["position_ids"].dtype == "int32"
    assert batch["attention_mask"].dtype == "bool"
    assert batch["token_labels"].tolist() == [[0, 1, 2, -100, -100], [0, 1, 2, 3, 4], [0, -100, -100, -100, -100]]
    real = [[True, True, True, False, False], [True] * 5, [True, False, False, False, False]]
    assert batch["attention_mask"].tolist() == real
    for key in ("input_ids", "position_ids", "attention_mask", "token_labels"):
        assert batch.masks[key].tolist() == real
        assert batch.masks[key].dtype == "bool"


def test_a_mask_is_there_where_nothing_was_filled_up_too() -> None:
    batch = Collate(SENTENCE)(sentences([2, 2]))
    assert batch.masks["input_ids"].all()
    assert batch.masks["input_ids"].shape == (2, 2)


def test_arrays_are_writable_and_own_their_memory() -> None:
    """Writing into a batch changes no message: bytes of protobuf are immutable."""
    vector = np.full(384, 384**-0.5, dtype="<f4").tobytes()
    message = Embedding(document_id="a", encoder="e@1.0.0", vector=vector)
    batch = Collate(EMBEDDING)([message])
    assert batch["sentence_embedding"].shape == (1, 384)
    batch["sentence_embedding"][:] = 0
    assert message.vector == vector


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [(8, 8), ((4, 6, 16), 6), (range(4, 513, 4), 8), ({4, 5}, 5), (5, 5)],
)
def test_sizes_that_a_dim_may_have(sizes: Any, expected: int) -> None:
    batch = Collate(SENTENCE, sizes={"tokens": sizes})(sentences([3, 5]))
    assert batch["input_ids"].shape == batch["token_labels"].shape == (2, expected)
    assert batch.masks["input_ids"].sum() == 8


def test_samples_are_cut_where_truncate_is_declared() -> None:
    batch = Collate(SENTENCE, sizes={"tokens": (2, 4)})(sentences([3, 6]))
    assert batch["input_ids"].tolist() == [[10, 11, 12, 1], [10, 11, 12, 13]]
    assert batch["token_labels"].tolist() == [[0, 1, 2, -100], [0, 1, 2, 3]]
    collate = Collate(BARE, tensors=["ids"], sizes={"tokens": 2})
    with pytest.raises(CollateError, match=r"Bare ids: dim tokens is longer .* expected 2, got 3; declare `truncate`"):
        collate([BARE.message_type(ids=[1, 2, 3])])


def test_two_free_axes_are_filled_up_and_cut_at_the_declared_side() -> None:
    batch = Collate(IMAGE, tensors=["pixels"], fields=())([image(1, 2), image(2, 1)])
    assert batch["pixels"].shape == (2, 3, 2, 2)
    assert batch["pixels"][0].tolist() == [[[128, 128], [0, 1]], [[128, 128], [2, 3]], [[128, 128], [4, 5]]]
    assert batch["pixels"][1].tolist() == [[[128, 0], [128, 1]], [[128, 2], [128, 3]], [[128, 4], [128, 5]]]
    assert batch.masks["pixels"].tolist() == [[[False, False], [True, True]], [[False, True], [False, True]]]
    cut = Collate(IMAGE, tensors=["pixels"], sizes={"height": 1, "width": 1})([image(2, 2)])
    assert cut["pixels"].tolist() == [[[[3]], [[7]], [[11]]]]


def test_without_a_declared_pad_several_sizes_are_refused() -> None:
    messages = [TokenizerOutput(input_ids=range(n), attention_mask=[1] * n, position_ids=range(n)) for n in (3, 2, 3)]
    with pytest.raises(CollateError) as found:
        Collate(TOKENIZER_OUTPUT)(messages)
    assert str(found.value) == (
        "acme.pipeline.v1.TokenizerOutput input_ids: dim tokens is shorter than in the batch; expected 3, got 2; "
        "declare `pad` in its tensor, or make batches of one size (record 1 of the batch)"
    )
    assert (found.value.path, found.value.record) == ("input_ids", 1)
    assert Collate(TOKENIZER_OUTPUT)([messages[0], messages[2]])["position_ids"].shape == (2, 3)
    with pytest.raises(CollateError, match=r"position_ids: .* \(tokens\.binpb:18\)"):
        Collate(TOKENIZER_OUTPUT, tensors=["position_ids"])(
            messages[:2], records=["tokens.binpb:17", "tokens.binpb:18"]
        )


def test_labels_without_an_ignore_index_are_not_filled_up() -> None:
    messages = [BARE.message_type(ids=[1] * n, classes=[1] * n) for n in (2, 1)]
    with pytest.raises(CollateError, match="declare `ignore_index` in its label"):
        Collate(BARE, tensors=["classes"])(messages)
    batch = Collate(BARE, tensors=["classes"], ignore_index=-7)(messages)
    assert batch["classes"].tolist() == [[1, 1], [1, -7]]


def test_labels_are_filled_up_and_cut_where_the_tensor_beside_them_is() -> None:
    prompt = contracts()["Prompt"]
    messages = [prompt.message_type(ids=range(n), labels=range(n)) for n in (1, 4)]
    batch = Collate(prompt, sizes={"tokens": 3})(messages)
    assert batch["tokens.in"].tolist() == [[65535, 65535, 0], [1, 2, 3]]
    assert batch["tokens.in"].dtype == "uint16"
    assert batch["labels"].tolist() == [[-100, -100, 0], [1, 2, 3]]
    assert batch.masks["labels"].tolist() == batch.masks["tokens.in"].tolist() == [[False, False, True], [True] * 3]


def test_named_dims_agree_within_a_sample() -> None:
    message = sentence(3, position_ids=[0, 1])
    with pytest.raises(CollateError, match=r"position_ids: .* expected 3, got 2 \(record 1 of the batch\)"):
        Collate(SENTENCE)([sentence(2), message])


def test_a_shape_that_does_not_fit_is_refused() -> None:
    with pytest.raises(CollateError, match=r"Image pixels: an axis of another size; expected 3, got 4"):
        Collate(IMAGE)([image(1, 1, shape=[4, 1, 1])])
    with pytest.raises(CollateError, match=r"not as many elements as the shape says; got 3 elements"):
        Collate(IMAGE)([image(1, 1, shape=[3, 1, 2])])
    with pytest.raises(CollateError, match=r"input_ids: dim tokens out of bounds; expected 1 to 512, got 0"):
        Collate(SENTENCE)([SENTENCE.message_type()])


# ----------------------------------------------------------------------------------------------------------------------
# Dtypes


def test_every_dtype_comes_as_declared() -> None:
    raw = {field.path: bytes(16) for field in TYPES.tensors if field.dims[0].name == "n"}
    message = TYPES.message_type(**{name: value[: 2 * np.dtype(size(name)).itemsize] for name, value in raw.items()})
    batch = Collate(TYPES)([message, message])
    for name in raw:
        assert batch.dtypes[name] == name
        assert batch[name].dtype == size(name)
        assert batch[name].shape == (2, 2)
        assert batch[name].flags.writeable


def size(dtype: str) -> str:
    return "uint16" if dtype == "bfloat16" else dtype


def test_a_number_that_the_dtype_does_not_have_is_refused() -> None:
    with pytest.raises(CollateError, match=r"Types narrow: a number that int8 does not have, at index 1 \(record 0"):
        Collate(TYPES, tensors=["narrow"])([TYPES.message_type(narrow=[0, 128])])


# ----------------------------------------------------------------------------------------------------------------------
# Messages inside of messages, oneofs, batched tensors


def test_rows_of_batched_tensors_follow_each_other() -> None:
    messages = [image(1, 1, rows=rows(2, 2)), image(1, 1, rows=rows(1, 3, first=9))]
    batch = Collate(IMAGE, fields=())(messages)
    assert batch["rows.x"].tolist() == [[0, 1, -1], [2, 3, -1], [9, 10, 11]]
    assert batch.masks["rows.x"].tolist() == [[True, True, False], [True, True, False], [True, True, True]]
    assert batch["y"].tolist() == [1, 1, 1]
    assert batch.rows["rows.x"] == batch.rows["y"] == (2, 1)
    assert batch["pixels"].shape[0] == batch.size == 2


def test_the_number_of_rows_may_be_filled_up_and_never_cut() -> None:
    messages = [image(1, 1, rows=rows(2, 2)), image(1, 1, rows=rows(1, 2))]
    batch = Collate(IMAGE, tensors=["rows.x", "y"], sizes={"batch": (4, 16)})(messages)
    assert batch["rows.x"].tolist() == [[0, 1], [2, 3], [0, 1], [-1, -1]]
    assert batch.masks["rows.x"].tolist() == [[True, True], [True, True], [True, True], [False, False]]
    assert batch["y"].tolist() == [1, 1, 1, -100]
    assert batch.rows["rows.x"] == (2, 1)
    with pytest.raises(CollateError, match=r"rows.x: more rows than asked for; expected at most 2, got 3$"):
        Collate(IMAGE, tensors=["rows.x"], sizes={"batch": 2})(messages)
    request = PredictRequest(
        entity_model=EntityModelInput(shape=[1, 256], input_ids=bytes(2048), attention_mask=bytes(2048))
    )
    with pytest.raises(
        CollateError, match=r"attention_mask: fewer rows than asked for; expected 8, got 1; declare `pad`"
    ):
        Collate(PREDICT_REQUEST, sizes={"batch": 8})([request])


def test_two_tensors_of_one_name_come_under_their_paths() -> None:
    assert Collate(PREDICT_REQUEST).keys == (
        "entity_model.input_ids", "entity_model.attention_mask", "encoder.input_ids", "encoder.attention_mask",
    )  # fmt: skip
    assert "rows.x" in Collate(IMAGE).keys


def test_tensors_of_a_oneof_are_there_in_all_messages_or_in_none() -> None:
    encoder = PredictRequest(request_id="a", encoder=EncoderInput(input_ids=[1, 2], attention_mask=[1, 1]))
    entities = PredictRequest(
        entity_model=EntityModelInput(shape=[1, 256], input_ids=bytes(2048), attention_mask=bytes(2048))
    )
    batch = Collate(PREDICT_REQUEST)([encoder, encoder])
    assert sorted(batch) == ["encoder.attention_mask", "encoder.input_ids"]
    assert batch.fields == {"request_id": ["a", "a"], "model_version": ["", ""]}
    assert sorted(Collate(PREDICT_REQUEST)([entities])) == ["entity_model.attention_mask", "entity_model.input_ids"]
    with pytest.raises(
        CollateError, match=r"entity_model.input_ids: not set, and others of the batch are; .* \(record 1"
    ):
        Collate(PREDICT_REQUEST)([entities, encoder])


def test_tensors_and_labels_of_repeated_messages_follow_each_other() -> None:
    box = {"box": [1, 2, 3, 4], "mood": 1}
    messages = [image(1, 1, regions=[box, box], named={"b": {"box": [2] * 4, "mood": 2}, "a": box}), image(1, 1)]
    batch = Collate(IMAGE, fields=())(messages)
    assert batch["regions[].box"].tolist() == [[1, 2, 3, 4]] * 2
    assert batch["regions[].mood"].tolist() == [2, 2]
    assert batch["named[].box"].tolist() == [[1, 2, 3, 4], [2] * 4]  # by key
    assert batch.rows["regions[].box"] == batch.rows["named[].mood"] == (2, 0)
    assert "regions[].crop" not in batch  # set in none of them
    with pytest.raises(
        CollateError, match=r"regions\[\]\.crop: not set, and others of the batch are; .* \(record 1 of"
    ):
        Collate(IMAGE)([image(1, 1, regions=[{**box, "crop": b"ab"}]), image(1, 1, regions=[box])])
    empty = Collate(IMAGE, fields=())([image(1, 1)])
    assert empty["regions[].box"].shape == (0, 4)
    assert empty["regions[].mood"].shape == (0,)


# ----------------------------------------------------------------------------------------------------------------------
# Labels


def test_labels_are_class_indices() -> None:
    batch = Collate(SENTENCE)([sentence(1, sentiment=1), sentence(1, sentiment=2), sentence(1, sentiment=3)])
    assert batch["sentiment"].tolist() == [2, 0, 1]
    assert batch["sentiment"].dtype == "int64"
    unset = sentence(1)
    unset.ClearField("topic")
    assert Collate(SENTENCE)([unset, sentence(1, topic=0)])["topic"].tolist() == [-1, 0]


def test_an_enum_value_without_a_class_is_refused_or_ignored() -> None:
    messages = [sentence(1), sentence(1, sentiment=0)]
    with pytest.raises(CollateError, match=r"sentiment: a value without class_index; .* \(record 1 of the batch\)"):
        Collate(SENTENCE)(messages)
    batch = Collate(SENTENCE, ignore_index=-100)(messages)
    assert batch["sentiment"].tolist() == [2, -100]
    # What the contract declares stays.
    unset = sentence(1)
    unset.ClearField("topic")
    assert Collate(SENTENCE, ignore_index=-100)([unset])["topic"].tolist() == [-1]
    assert Collate(BARE, tensors=["moods"])([BARE.message_type(moods=[1, 2])])["moods"].tolist() == [[2, 0]]
    with pytest.raises(CollateError, match=r"moods: a value without class_index; .*, at index 1"):
        Collate(BARE, tensors=["moods"])([BARE.message_type(moods=[1, 0])])


def test_a_number_that_is_no_class_is_refused() -> None:
    with pytest.raises(CollateError, match="kind: no class; expected 0 to 3"):
        Collate(BARE, tensors=["kind"])([BARE.message_type(kind=4)])
    with pytest.raises(CollateError, match="token_labels: no class; expected 0 to 6, at index 1"):
        Collate(SENTENCE)([sentence(2, token_labels=[0, -1])])


# ----------------------------------------------------------------------------------------------------------------------
# Everything else of the messages, options, pickling


def test_other_fields_come_as_lists_under_their_paths() -> None:
    first = sentence(1, tags=["a", "b"], counts={"z": 1, "b": 2}, written_at={"seconds": 7})
    batch = Collate(SENTENCE)([first, sentence(1)])
    assert list(batch.fields) == ["id", "written_at", "tags", "counts"]
    assert batch.fields["id"] == ["s1", "s1"]
    assert batch.fields["tags"] == [["a", "b"], []]
    assert batch.fields["counts"] == [{"b": 2, "z": 1}, {}]
    assert [each and each.seconds for each in batch.fields["written_at"]] == [7, None]
    assert list(Collate(SENTENCE, fields=["id"])([first]).fields) == ["id"]
    assert Collate(SENTENCE, fields=["input_ids", "written_at.seconds"])([first]).fields == {
        "input_ids": [[10]], "written_at.seconds": [7],
    }  # fmt: skip


def test_a_field_that_is_no_tensor_says_where_it_is() -> None:
    batch = Collate(SENTENCE)([sentence(1)])
    with pytest.raises(KeyError, match=r"id is no tensor of this batch; expected it in batch\.fields"):
        batch["id"]
    with pytest.raises(KeyError):
        batch["nowhere"]
    assert "id" not in batch


def test_the_text_of_a_batch_shows_names_and_shapes_alone() -> None:
    batch = Collate(SENTENCE, tensors=["input_ids", "topic"], fields=["id"])([sentence(2, id="secret")])
    assert repr(batch) == "<Batch of 1: input_ids int64[1, 2], topic int64[1]; fields id>"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tensors": ["ids"]}, r"no tensor or label ids; the contract has: input_ids, attention_mask"),
        ({"fields": ["nowhere"]}, r"fields: features.v1.Sentence has no field nowhere"),
        ({"fields": ["id.x"]}, r"no field id.x"),
        ({"sizes": {"rows": 3}}, r"sizes: no free dim rows; the contract has: tokens"),
        ({"sizes": {"tokens": 513}}, r"sizes: tokens is at most 512 in input_ids, got 513"),
        ({"sizes": {"tokens": ()}}, r"sizes: expected sizes of tokens from 1"),
        ({"sizes": {"tokens": (0, 4)}}, r"from 1"),
    ],
)
def test_options_that_do_not_fit_the_contract_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Collate(SENTENCE, **options)


def test_messages_of_another_type_and_empty_batches_are_refused() -> None:
    with pytest.raises(TypeError, match=r"expected features.v1.Sentence, got features.v1.Bare"):
        Collate(SENTENCE)([BARE.message_type()])
    with pytest.raises(TypeError, match=r"got bytes"):
        Collate(SENTENCE)([b""])
    with pytest.raises(CollateError, match="no messages"):
        Collate(SENTENCE)([])


def test_batches_and_collates_travel_between_processes() -> None:
    message = PredictRequest(request_id="a", encoder=EncoderInput(input_ids=[1, 2], attention_mask=[1, 1]))
    collate = pickle.loads(pickle.dumps(Collate(PREDICT_REQUEST, tensors=["encoder.input_ids"])))
    batch = collate([message])
    assert sorted(batch) == ["encoder.input_ids"]
    again = pickle.loads(pickle.dumps(batch))
    assert isinstance(again, Batch)
    assert digest(again) == digest(batch)
    assert again.fields == batch.fields


def test_a_batch_with_messages_of_a_contract_compiled_at_run_time_is_copied() -> None:
    """Their class has no module to be found in: it is looked for in the contract's pool."""
    batch = Collate(SENTENCE)([sentence(2, written_at={"seconds": 7}), sentence(3)])
    again = copy.copy(batch)  # by the same protocol that pickle uses, without pickling the contract
    assert again.fields == batch.fields
    assert again.fields["written_at"][0] is not batch.fields["written_at"][0]
    assert digest(again) == digest(batch)
    assert again.rows == batch.rows
    assert again.size == 2


# ----------------------------------------------------------------------------------------------------------------------
# Properties


@settings(max_examples=examples(150))
@given(st.lists(st.integers(1, 20), min_size=1, max_size=6), st.none() | st.integers(1, 24))
def test_what_the_mask_says_is_real_is_what_the_messages_hold(lengths: list[int], size: int | None) -> None:
    messages = [sentence(length, first=100 * at) for at, length in enumerate(lengths)]
    batch = Collate(SENTENCE, sizes=None if size is None else {"tokens": size})(messages)
    target = max(lengths) if size is None else size
    for key in ("input_ids", "position_ids", "token_labels", "attention_mask"):
        assert batch[key].shape == (len(lengths), target)
        for row, message in enumerate(messages):
            real = batch.masks[key][row]
            assert batch[key][row][real].tolist() == list(getattr(message, key))[:target]
            assert set(batch[key][row][~real].tolist()) <= {{"input_ids": 1, "token_labels": -100}.get(key, 0)}


@settings(max_examples=examples(100))
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=4))
def test_images_come_back_from_where_the_mask_says(sizes: list[tuple[int, int]]) -> None:
    messages = [image(height, width) for height, width in sizes]
    batch = Collate(IMAGE, tensors=["pixels"])(messages)
    for row, (height, width) in enumerate(sizes):
        mask = batch.masks["pixels"][row]
        assert mask.sum() == height * width
        assert batch["pixels"][row][:, mask].tobytes() == messages[row].pixels
        assert (batch["pixels"][row][:, ~mask] == 128).all()
