"""What a contract lets pass makes a batch, with the very numbers of the message."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acme.inference.v1.model_service_contract import (
    ENCODER_INPUT,
    ENCODER_OUTPUT,
    ENTITY_MODEL_INPUT,
    ENTITY_MODEL_OUTPUT,
    PREDICT_REQUEST,
    PREDICT_RESPONSE,
)
from acme.pipeline.v1.pipeline_contract import EMBEDDING, TOKENIZER_OUTPUT
from protocontract.contract import Contract
from protocontract.tensors import Batch, Collate, digest
from protocontract.testing import valid
from tests.examples import examples
from tests.tensors.support import contracts

FLAT = [ENCODER_INPUT, ENCODER_OUTPUT, ENTITY_MODEL_INPUT, ENTITY_MODEL_OUTPUT, EMBEDDING, TOKENIZER_OUTPUT]
FLAT += [contracts()[name] for name in ("Sentence", "Bare", "Types", "Rows", "Vector", "Region", "Prompt")]
NESTED = [PREDICT_REQUEST, PREDICT_RESPONSE, contracts()["Image"]]


@pytest.mark.parametrize("contract", [*FLAT, *NESTED], ids=lambda contract: str(contract.full_name))
@settings(max_examples=examples(8))
@given(data=st.data())
def test_every_valid_message_is_a_batch_of_one(contract: Contract[Any], data: st.DataObject) -> None:
    message = data.draw(valid(contract))
    batch = Collate(contract, ignore_index=-100)([message])
    for tensor in contract.tensors:
        key = next((key for key in (tensor.name, tensor.path) if key in batch), None)
        if key is None or "." in tensor.path:
            continue
        value = getattr(message, tensor.path)
        found = batch[key]
        assert batch.dtypes[key] == tensor.dtype
        assert found.size == math.prod(found.shape)
        assert found.shape[0] == (batch.rows[key][0] if tensor.batched else 1)
        little = found.astype(found.dtype.newbyteorder("<"))
        if isinstance(value, bytes):
            assert little.tobytes() == value
        elif tensor.dtype != "bfloat16":
            assert little.tobytes() == np.array(value[:], dtype=found.dtype.newbyteorder("<")).tobytes()


@pytest.mark.parametrize("contract", FLAT, ids=lambda contract: str(contract.full_name))
@settings(max_examples=examples(5))
@given(data=st.data())
def test_two_equal_messages_are_two_equal_rows(contract: Contract[Any], data: st.DataObject) -> None:
    message = data.draw(valid(contract))
    collate = Collate(contract, ignore_index=-100)
    one, two = collate([message]), collate([message, message])
    assert list(one) == list(two)
    for key, array in two.items():
        assert len(array) == 2 * len(one[key])
        assert array[: len(one[key])].tobytes() == array[len(one[key]) :].tobytes() == one[key].tobytes()
    assert digest(_half(two)) == digest(one)


def _half(batch: Batch[Any]) -> Batch[Any]:
    """The first message's part of a batch of two."""

    def half(array: Any) -> Any:
        return array[: len(array) // 2]

    return Batch(
        {key: half(array) for key, array in batch.items()},
        masks={key: half(mask) for key, mask in batch.masks.items()},
        dtypes=dict(batch.dtypes),
        fields={},
        rows={key: counts[:1] for key, counts in batch.rows.items()},
        size=1,
    )
