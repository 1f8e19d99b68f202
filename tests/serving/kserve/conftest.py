"""One model server for all tests of a module, and one proxy before it. Real servers only where they are named."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import grpc
import numpy as np
import pytest
from tritonclient.grpc import service_pb2

from protocontract.serving.methods import Level
from tests.serving.kserve.support import (
    SCALE,
    ModelServer,
    Running,
    array_of,
    declared,
    doubled,
    proxied,
    response_of,
    served,
)

collect_ignore = [f"test_{name.lower()}.py" for name in ("TRITON", "MLSERVER") if name not in os.environ]


def _loose(request: Any) -> Any:
    found = doubled(request)
    rows = len(array_of(request))
    found.outputs.add(name="z", datatype="FP32", shape=[rows])
    found.raw_output_contents.append(np.zeros(rows, "<f4").tobytes())
    found.outputs.add(name="unasked", datatype="FP32", shape=[1])
    found.raw_output_contents.append(b"\0\0\0\0")
    return found


def _lengths(request: Any) -> Any:
    """The length of each text in bytes, in typed contents."""
    texts = request.inputs[0].contents.bytes_contents
    if request.raw_input_contents:
        from protocontract.serving.kserve.datatypes import read_texts

        texts = read_texts(request.raw_input_contents[0])
    found = service_pb2.ModelInferResponse(model_name=request.model_name, model_version="1")
    output = found.outputs.add(name="length", datatype="INT64", shape=[len(texts)])
    output.contents.int64_contents.extend(map(len, texts))
    return found


def _reply(request: Any) -> Any:
    found = service_pb2.ModelInferResponse(model_name=request.model_name, model_version="1")
    output = found.outputs.add(name="reply", datatype="BYTES", shape=list(request.inputs[0].shape))
    texts = [bytes(text) + b"!" for text in request.inputs[0].contents.bytes_contents]
    if request.raw_input_contents:
        from protocontract.serving.kserve.datatypes import read_texts

        found_texts = read_texts(request.raw_input_contents[0])
        assert isinstance(found_texts, list)
        texts = [text + b"!" for text in found_texts]
    output.contents.bytes_contents.extend(texts)
    return found


def _vector(request: Any) -> Any:
    rows = request.inputs[0].shape[0]
    return response_of("vector", np.tile(np.array([0, 1, 0], "<f4"), (rows, 1)), model=request.model_name)


def _kinds(request: Any) -> Any:
    """All inputs as outputs, as they came."""
    found = service_pb2.ModelInferResponse(model_name=request.model_name, model_version="1")
    for tensor in request.inputs:
        output = found.outputs.add(name=tensor.name, datatype=tensor.datatype, shape=tensor.shape)
        output.contents.CopyFrom(tensor.contents)
    found.raw_output_contents.extend(request.raw_input_contents)
    return found


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    ids = ("INT64", [-1, -1])
    loose = (SCALE[0], {**SCALE[1], "z": ("FP32", [-1])})
    models = {
        "scale": (*SCALE, doubled),
        "loose": (*loose, _loose),
        "lengths": ({"text": ("BYTES", [-1])}, {"length": ("INT64", [-1])}, _lengths),
        "reply": ({"text": ("BYTES", [-1])}, {"reply": ("BYTES", [-1])}, _reply),
        "encoder": ({"ids": ids, "mask": ids}, {"vector": ("FP32", [-1, 3])}, _vector),
        "kinds": ({}, {}, _kinds),
        # Models that do what a model must not.
        "nan": (*SCALE, lambda request: response_of("y", np.full((1, 4), np.nan, "<f4"), model="nan")),
        "rows": (*SCALE, lambda request: response_of("y", np.zeros((3, 4), "<f4"), model="rows")),
        "width": (*SCALE, lambda request: response_of("y", np.zeros((4, 1), "<f4"), model="width")),
        "dtype": (*SCALE, lambda request: response_of("y", np.zeros((1, 4), "<f8"), model="dtype", datatype="FP64")),
        "nothing": (*SCALE, lambda request: service_pb2.ModelInferResponse(model_name="nothing")),
        "version": (*SCALE, lambda request: response_of("y", np.zeros((1, 4), "<f4"), model="version", version="9")),
        "short": (*SCALE, _short),
        "fails": (*SCALE, lambda request: grpc.StatusCode.INTERNAL),
        "large": (*SCALE, lambda request: response_of("y", np.zeros((8, 4), "<f4"), model="large")),
    }
    with served(ModelServer(models)) as running:
        yield running


def _short(request: Any) -> Any:
    found = doubled(request)
    found.raw_output_contents[0] = found.raw_output_contents[0][:-2]
    return found


BAD = ("nan", "rows", "width", "dtype", "nothing", "version", "short", "fails")


@pytest.fixture(scope="module")
def proxy(server: ModelServer) -> Iterator[Running]:
    models = [
        declared("scale", "ScaleIn", "ScaleOut", Level(deadline=10.0, max_request_bytes=4 * 1024 * 1024)),
        declared("loose", "LooseIn", "LooseOut"),
        declared("lengths", "Texts", "Lengths"),
        declared("reply", "Question", "Reply"),
        declared("encoder", "Sample", "Vector"),
        declared("kinds", "Kinds", "Kinds"),
        *(declared(name, "ScaleIn", "ScaleOut") for name in BAD),
    ]
    with proxied(server.address, models) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(server: ModelServer) -> None:
    server.seen.clear()
    server.metadata.clear()
