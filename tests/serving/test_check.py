"""Checks without gRPC, and what clients are told about retries: on a real server that is away at first."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import grpc
import grpc.aio
import pytest

from acme.inference.v1 import model_service_pb2
from acme.text.v1.text_contract import TEXT_SAMPLE
from protocontract import ContractError, ContractViolation
from protocontract.serving import ResponseViolation, check, check_response, service_config
from tests.support.samples import text_sample

SERVICE = "acme.inference.v1.ModelService"


def test_a_request_in_every_form() -> None:
    sample = text_sample(1)
    parsed = TEXT_SAMPLE.parse(sample.SerializeToString())
    text = json.dumps({"id": sample.id, "rawText": sample.raw_text, "createdAt": "2026-01-01T00:00:00Z"})
    assert check(TEXT_SAMPLE, sample) == parsed
    assert check(TEXT_SAMPLE, sample.SerializeToString()) == parsed
    assert check(TEXT_SAMPLE, text).id == sample.id
    assert check(TEXT_SAMPLE, text.encode(), encoding="json").id == sample.id
    assert check(TEXT_SAMPLE, json.loads(text)).id == sample.id


def test_a_bad_one_is_the_callers_or_the_services_fault() -> None:
    bad = text_sample(1)
    bad.id = "no uuid"
    with pytest.raises(ContractViolation, match=r"string\.uuid") as caught:
        check(TEXT_SAMPLE, bad)
    assert not isinstance(caught.value, ResponseViolation)
    with pytest.raises(ResponseViolation, match=r"string\.uuid"):
        check_response(TEXT_SAMPLE, bad)
    assert bad.id == "no uuid"


def test_a_response_is_normalised() -> None:
    sample = text_sample(1)
    assert check_response(TEXT_SAMPLE, sample) == TEXT_SAMPLE.parse(sample.SerializeToString())


def test_grpc_retries_as_the_contract_says() -> None:
    """UNAVAILABLE twice, then an answer: the contract allows three attempts. INVALID_ARGUMENT is not tried again."""
    asked: list[str] = []

    async def predict(request: Any, context: Any) -> Any:
        asked.append(request.model_version)
        if request.model_version == "bad":
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "no")
        if len(asked) < 3:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
        return model_service_pb2.PredictResponse(model_version="1.0.0")

    handler = grpc.unary_unary_rpc_method_handler(
        predict,
        request_deserializer=model_service_pb2.PredictRequest.FromString,
        response_serializer=model_service_pb2.PredictResponse.SerializeToString,
    )

    async def main() -> None:
        server = grpc.aio.server()
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, {"Predict": handler}),))
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        options = [("grpc.service_config", service_config(SERVICE))]
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
            call = channel.unary_unary(
                f"/{SERVICE}/Predict",
                request_serializer=model_service_pb2.PredictRequest.SerializeToString,
                response_deserializer=model_service_pb2.PredictResponse.FromString,
            )
            answer = await call(model_service_pb2.PredictRequest(model_version="1.0.0"), timeout=120)
            assert answer.model_version == "1.0.0"
            assert len(asked) == 3
            with pytest.raises(grpc.aio.AioRpcError, match="INVALID_ARGUMENT"):
                await call(model_service_pb2.PredictRequest(model_version="bad"), timeout=120)
            assert len(asked) == 4
        await server.stop(None)

    asyncio.run(main())


def test_an_unknown_service_is_told() -> None:
    with pytest.raises(ContractError, match=r"no service acme.Nowhere; import its generated module first"):
        service_config("acme.Nowhere")
