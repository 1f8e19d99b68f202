"""The buf.validate part of the example contracts equals protovalidate: ids, paths, messages, order."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acme.finance.v1.transaction_contract import TRANSACTION
from acme.finance.v1.transaction_pb2 import Transaction
from acme.inference.v1.model_service_contract import PREDICT_REQUEST, PREDICT_RESPONSE
from acme.inference.v1.model_service_pb2 import PredictRequest, PredictResponse
from acme.pipeline.v1.pipeline_contract import CONVERSATION, EMBEDDING, RETRIEVED_CHUNKS, TOKENIZER_OUTPUT
from acme.pipeline.v1.pipeline_pb2 import Conversation, Embedding, RetrievedChunks, TokenizerOutput
from acme.text.v1.text_contract import TEXT_SAMPLE
from acme.text.v1.text_pb2 import TextSample
from protocontract import Contract
from tests.examples import examples
from tests.support.judge import ours, theirs
from tests.support.messages import UUID, messages

# One message type of each example file takes the long run: 5,000 under PROTOCONTRACT_EXAMPLES=10, which CI runs.
EXAMPLES = {"text": 500, "finance": 500, "chunks": 500, "response": 500}
NOW = Timestamp(seconds=1767225600)


def _valid() -> dict[str, tuple[Contract[Any], Any]]:
    """A valid message of each example contract."""
    text = TextSample(id=UUID, raw_text="Ada lives in London.", created_at=NOW)
    text.entities.add(text="Ada", label="PERSON", start_offset=0, end_offset=3)
    text.entities.add(text="London", label="LOCATION", start_offset=13, end_offset=19)
    payment = Transaction(
        id=UUID, amount="1000.00", currency=1, booked_at="2026-01-01T00:00:00Z", account="4" * 19, kind=1, memo="rent"
    )
    tokens = TokenizerOutput(document_id="d", input_ids=[1, 2, 3], attention_mask=[1, 1, 0], position_ids=[0, 1, 2])
    embedding = Embedding(document_id="d", encoder="e5-base@1.0.0", vector=b"\0" * 1536, encoded_at=NOW)
    chunks = RetrievedChunks(query_id=UUID)
    chunks.chunks.add(chunk_id="c", text="t", score=0.5, source_uri="https://example.com/")
    chunks.chunks.add(chunk_id="d", text="u", score=0.25, source_uri="https://example.com/")
    talk = Conversation(conversation_id=UUID)
    talk.turns.add(message_id="1", role="user", content="hi")
    talk.turns.add(message_id="2", role="assistant", content="hello", parent_ids=["1"])
    request = PredictRequest(request_id=UUID, model_version="1.0.0")
    request.encoder.input_ids.extend([1, 2])
    request.encoder.attention_mask.extend([1, 1])
    response = PredictResponse(request_id=UUID, model_version="1.0.0", status=1)
    response.encoder.vector.extend([0.5] * 4)
    response.evidence.add(name="run", digest="0" * 64, at=NOW)
    response.metrics.batch_size = 1
    response.metrics.ran.seconds = 1
    return {
        "text": (TEXT_SAMPLE, text),
        "finance": (TRANSACTION, payment),
        "tokenizer": (TOKENIZER_OUTPUT, tokens),
        "embedding": (EMBEDDING, embedding),
        "chunks": (RETRIEVED_CHUNKS, chunks),
        "conversation": (CONVERSATION, talk),
        "request": (PREDICT_REQUEST, request),
        "response": (PREDICT_RESPONSE, response),
    }


VALID = _valid()


@pytest.mark.parametrize("name", VALID)
def test_the_valid_message_is_valid(name: str) -> None:
    contract, valid = VALID[name]
    assert ours(contract, valid) == theirs(valid) == []


@pytest.mark.parametrize("name", VALID)
def test_violations_equal_protovalidate(name: str) -> None:
    contract, valid = VALID[name]
    seen = {"valid": 0, "broken": 0}
    number = examples(EXAMPLES.get(name, 50))

    @settings(max_examples=number, derandomize=True, deadline=None, database=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(st.data())
    def compare(data: st.DataObject) -> None:
        start = data.draw(st.sampled_from([None, valid, valid]))
        message = data.draw(messages(contract.message_type, valid=start))
        expected = theirs(message)
        assert ours(contract, message) == expected
        seen["broken" if expected else "valid"] += 1

    compare()
    assert min(seen.values()) > number // 50, seen
