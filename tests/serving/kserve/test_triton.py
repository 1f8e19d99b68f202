"""A real Triton server (TRITON, which .ci/triton prints): alone, behind the proxy, and as a back end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc as triton
import tritonclient.http as triton_http
from tritonclient.grpc import service_pb2
from tritonclient.utils import InferenceServerException

from protocontract.models import RunFailed
from protocontract.serving.kserve import RemoteModel
from tests.serving.kserve.real import Addresses, triton_server
from tests.serving.kserve.support import Running, declared, proxied, stub_of
from tests.serving.kserve.test_rest import Answer

ONES = np.ones((2, 4), "<f4")
NAN = np.array([[1, np.nan, np.inf, 2]], "<f4")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    with triton_server(tmp_path_factory.mktemp("triton")) as found:
        yield found


@pytest.fixture(scope="module")
def proxy(server: Addresses) -> Iterator[Running]:
    models = [
        *(declared(name, "ScaleIn", "ScaleOut") for name in ("scale", "unsound", "count")),
        declared("lengths", "Texts", "Lengths"),
        *(declared("versions", "ScaleIn", "ScaleOut", version=version) for version in ("1", "2")),
    ]
    with proxied(server.grpc, models) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh() -> None:
    """In place of that of the stand-in's tests."""


def ask(address: str, module: Any, model: str, array: Any, **more: Any) -> Any:
    """Call a model by tritonclient: its output, or the status of what it was refused with."""
    with module.InferenceServerClient(address) as client:
        given = module.InferInput("x", list(array.shape), more.pop("datatype", "FP32"))
        given.set_data_from_numpy(array)
        try:
            return client.infer(model, [given], **more).as_numpy("y")
        except InferenceServerException as error:
            return error.status().rpartition(".")[2]


def test_tritons_own_checks_let_nan_through_and_ours_do_not(server: Addresses, proxy: Running) -> None:
    """Dtype and shape are all that Triton compares: NaN goes in and comes out with OK, by either protocol."""
    for module, direct, ours, refused, failed in (
        (triton, server.grpc, proxy.grpc, "INVALID_ARGUMENT", "INTERNAL"),
        (triton_http, server.rest, proxy.rest, "400", "500"),
    ):
        np.testing.assert_array_equal(ask(direct, module, "scale", NAN), NAN * 2)
        assert ask(ours, module, "scale", NAN) == refused
        assert np.isnan(ask(direct, module, "unsound", ONES)).all()
        assert ask(ours, module, "unsound", ONES) == failed
        for address in (direct, ours):
            np.testing.assert_array_equal(ask(address, module, "scale", ONES), ONES * 2)
    body = b'{"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [NaN, 1, 2, 3]}]}'
    direct_answer = Answer(server.rest, "POST", "/v2/models/scale/infer", body)
    assert direct_answer.status == 200
    assert b"NaN" in direct_answer.body
    assert Answer(proxy.rest, "POST", "/v2/models/scale/infer", body).status == 400


def test_what_triton_refuses_is_refused_before_it_by_the_same_code(server: Addresses, proxy: Running) -> None:
    for array, more in (
        (np.ones((1, 3), "<f4"), {}),
        (np.ones((9, 4), "<f4"), {}),
        (np.ones((1, 4), "<i4"), {"datatype": "INT32"}),
        (ONES, {"model": "unknown"}),
    ):
        model = more.pop("model", "scale")
        for module, direct, ours in ((triton, server.grpc, proxy.grpc), (triton_http, server.rest, proxy.rest)):
            expected = "NOT_FOUND" if model == "unknown" else "INVALID_ARGUMENT"
            if module is triton_http:
                expected = "404" if model == "unknown" else "400"
            assert ask(direct, module, model, array, **more) == expected
            assert ask(ours, module, model, array, **more) == expected


def test_questions_have_the_servers_answers(server: Addresses, proxy: Running) -> None:
    for module, direct, ours in ((triton, server.grpc, proxy.grpc), (triton_http, server.rest, proxy.rest)):
        with module.InferenceServerClient(direct) as behind, module.InferenceServerClient(ours) as before:
            assert before.is_server_ready()
            assert before.is_model_ready("scale")
            assert before.get_model_metadata("scale") == behind.get_model_metadata("scale")
            told = before.get_server_metadata()
            extensions = told["extensions"] if isinstance(told, dict) else told.extensions
            assert "binary_tensor_data" in extensions
            assert "system_shared_memory" not in extensions
    with triton.InferenceServerClient(server.grpc) as behind, triton.InferenceServerClient(proxy.grpc) as before:
        assert before.get_model_config("scale") == behind.get_model_config("scale")
        assert before.get_inference_statistics("scale").model_stats[0].name == "scale"
    for path in ("/v2/models/scale", "/v2/models/versions/versions/2"):
        assert Answer(proxy.rest, "GET", path).json == Answer(server.rest, "GET", path).json


def test_raw_typed_and_json_are_one(server: Addresses, proxy: Running) -> None:
    array = np.array([[0.1, -2, 3.25, 100]], "<f4")
    typed = service_pb2.ModelInferRequest(model_name="scale")
    typed.inputs.add(name="x", datatype="FP32", shape=[1, 4]).contents.fp32_contents.extend(array[0].tolist())
    told = {"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": array.tolist()}]}
    found = Answer(proxy.rest, "POST", "/v2/models/scale/infer", json.dumps(told).encode())
    with stub_of(proxy) as stub:
        assert stub.ModelInfer(typed).raw_output_contents[0] == (array * 2).tobytes()
    np.testing.assert_array_equal(ask(proxy.grpc, triton, "scale", array), array * 2)
    assert np.array(found.json["outputs"][0]["data"], "<f4").tobytes() == (array * 2).tobytes()


def test_texts(server: Addresses, proxy: Running) -> None:
    texts = np.array(["  one ", "zwölf"], dtype=object)
    for module, direct, ours in ((triton, server.grpc, proxy.grpc), (triton_http, server.rest, proxy.rest)):
        given = module.InferInput("text", [2], "BYTES")
        given.set_data_from_numpy(texts)
        for address, expected in ((direct, [6, 6]), (ours, [3, 6])):
            with module.InferenceServerClient(address) as client:
                assert client.infer("lengths", [given]).as_numpy("length").tolist() == expected


def test_versions(server: Addresses, proxy: Running) -> None:
    np.testing.assert_array_equal(ask(proxy.grpc, triton, "versions", ONES, model_version="1"), ONES * 2)
    assert ask(proxy.grpc, triton, "versions", ONES, model_version="3") == "FAILED_PRECONDITION"
    assert ask(server.grpc, triton, "versions", ONES, model_version="3") == "NOT_FOUND"
    # A contract of all versions leaves it to the server which there are.
    assert ask(proxy.grpc, triton, "scale", ONES, model_version="3") == "NOT_FOUND"


def test_a_model_that_answers_often_or_never(proxy: Running) -> None:
    def asks() -> Iterator[Any]:
        for at, count in enumerate((3, 0, 1)):
            found = service_pb2.ModelInferRequest(model_name="count", id=str(at))
            found.inputs.add(name="x", datatype="FP32", shape=[1, 4])
            found.raw_input_contents.append(np.full((1, 4), count, "<f4").tobytes())
            found.parameters["triton_enable_empty_final_response"].bool_param = True
            yield found

    with stub_of(proxy) as stub:
        found = [each.infer_response for each in stub.ModelStreamInfer(asks())]
    assert sorted(each.id for each in found if each.outputs) == ["0", "0", "0", "2"]
    assert sorted(each.id for each in found if not each.outputs) == ["0", "1", "2"]


def test_big_tensors(server: Addresses) -> None:
    """Eight rows are Triton's limit here, so the largest that it takes is small: what is big is refused by it."""
    wide = np.ones((1_000_000, 4), "<f4")
    with proxied(server.grpc, [declared("scale", "LooseIn", "LooseOut")]) as running:
        assert ask(running.grpc, triton, "scale", wide) == "INVALID_ARGUMENT"
        assert ask(running.rest, triton_http, "scale", wide) == "400"


def test_models_are_compared_before_they_are_served(server: Addresses) -> None:
    with proxied(server.grpc, [declared("scale", "LooseIn", "LooseOut")]) as running:
        (found,) = running.run(running.proxy.check())
    assert [str(each).partition(" (")[0] for each in found.differences] == [
        "scale has no output `z`, only `y`; the contract says float32[rows]"
    ]


@pytest.mark.parametrize("scheme", ["grpc", "http"])
def test_it_runs_models_for_us(server: Addresses, scheme: str) -> None:
    address = getattr(server, "grpc" if scheme == "grpc" else "rest")
    model = RemoteModel(f"{scheme}://{address}/scale")
    assert model.identity.runtime == "triton"
    assert model.identity.runtime_version == "2.51.0"
    assert model.identity.format == "python"
    assert [str(port) for port in (*model.signature.inputs, *model.signature.outputs)] == ["float32[?, 4]"] * 2
    np.testing.assert_array_equal(model.run({"x": ONES}).outputs["y"], ONES * 2)
    with pytest.raises(RunFailed, match=r"the model server refused the request \(INVALID_ARGUMENT\)") as caught:
        model.run({"x": np.ones((9, 4), "<f4")})  # more rows than its max_batch_size
    assert caught.value.kind == "runtime"
    model.close()
    texts = RemoteModel(f"{scheme}://{address}/lengths")
    assert texts.run({"text": np.array([b"one", b"three"], dtype=object)}).outputs["length"].tolist() == [3, 5]
    texts.close()
