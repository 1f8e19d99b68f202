"""A real MLServer (MLSERVER, which .ci/mlserver prints): alone, behind the proxy, and as a back end."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import pytest
import tritonclient.grpc as triton
import tritonclient.http as triton_http

from protocontract.serving.kserve import RemoteModel
from tests.serving.kserve.real import Addresses, ml_server
from tests.serving.kserve.support import Running, declared, proxied
from tests.serving.kserve.test_rest import Answer
from tests.serving.kserve.test_triton import NAN, ONES, ask


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with ml_server(tmp_path_factory.mktemp("mlserver")) as found:
        yield found


@pytest.fixture(scope="module")
def proxy(server: Addresses) -> Iterator[Running]:
    models = [declared("scale", "ScaleIn", "ScaleOut"), declared("lengths", "Texts", "Lengths")]
    with proxied(server.grpc, models) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh() -> None:
    """In place of that of the stand-in's tests."""


def test_it_compares_nothing_with_what_it_says_of_its_model(server: Addresses, proxy: Running) -> None:
    """NaN, other shapes, other dtypes: all are OK for MLServer, none for the contract."""
    for array, datatype in (
        (NAN, "FP32"),
        (np.ones((1, 3), "<f4"), "FP32"),
        (np.ones((9, 4), "<f4"), "FP32"),
        (np.ones((1, 4), "<i4"), "INT32"),
    ):
        assert isinstance(ask(server.grpc, triton, "scale", array, datatype=datatype), np.ndarray)
        assert ask(proxy.grpc, triton, "scale", array, datatype=datatype) == "INVALID_ARGUMENT"
        assert ask(proxy.rest, triton_http, "scale", array, datatype=datatype) == "400"
    np.testing.assert_array_equal(ask(proxy.grpc, triton, "scale", ONES), ONES * 2)
    # Its own REST takes no binary data; the proxy's does.
    np.testing.assert_array_equal(ask(proxy.rest, triton_http, "scale", ONES), ONES * 2)
    assert ask(server.rest, triton_http, "scale", ONES) == "422"


def test_json_is_answered_as_it_would(server: Addresses, proxy: Running) -> None:
    told = {"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 4]}]}
    answers = [
        Answer(address, "POST", "/v2/models/scale/infer", json.dumps(told).encode(), Content_Type="application/json")
        for address in (server.rest, proxy.rest)
    ]
    for answer in answers:
        assert answer.status == 200
        assert [output["data"] for output in answer.json["outputs"]] == [[2, 4, 6, 8]]


def test_texts(proxy: Running) -> None:
    for module, address in ((triton, proxy.grpc), (triton_http, proxy.rest)):
        given = module.InferInput("text", [2], "BYTES")
        given.set_data_from_numpy(np.array(["  one ", "zwölf"], dtype=object))
        with module.InferenceServerClient(address) as client:
            assert client.infer("lengths", [given]).as_numpy("length").tolist() == [3, 6]


def test_a_model_that_says_nothing_of_itself_is_noted(proxy: Running) -> None:
    scale, lengths = proxy.run(proxy.proxy.check())
    assert scale.differences == scale.notes == lengths.differences == ()
    assert lengths.notes == (
        "lengths does not say its inputs: they are not compared",
        "lengths does not say its outputs: they are not compared",
    )


def test_models_that_nobody_knows(proxy: Running) -> None:
    assert ask(proxy.grpc, triton, "unknown", ONES) == "NOT_FOUND"
    assert ask(proxy.grpc, triton, "scale", ONES, model_version="7") == "NOT_FOUND"


@pytest.mark.parametrize("scheme", ["grpc", "http"])
def test_it_runs_models_for_us(server: Addresses, scheme: str) -> None:
    model = RemoteModel(f"{scheme}://{getattr(server, 'grpc' if scheme == 'grpc' else 'rest')}/scale")
    assert (model.identity.runtime, model.identity.runtime_version) == ("mlserver", "1.7.1")
    np.testing.assert_array_equal(model.run({"x": ONES}).outputs["y"], ONES * 2)
    model.close()
