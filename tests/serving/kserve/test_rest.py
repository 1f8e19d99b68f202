"""The proxy's REST side: JSON and binary data, as tritonclient and as curl send them."""

from __future__ import annotations

import gzip
import json
import math
from http.client import HTTPConnection
from typing import Any

import numpy as np
import pytest
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

from tests.serving.kserve.support import ModelServer, Running, declared, proxied

ONES = np.ones((2, 4), "<f4")
LENGTH = "Inference-Header-Content-Length"


class Answer:
    """What came of one HTTP request."""

    def __init__(self, address: str, method: str, path: str, body: bytes | None = None, **headers: str) -> None:
        connection = HTTPConnection(address, timeout=120)
        try:
            connection.request(method, path, body, {key.replace("_", "-"): value for key, value in headers.items()})
            response = connection.getresponse()
            self.status = response.status
            self.headers = dict(response.getheaders())
            self.body = response.read()
        finally:
            connection.close()

    @property
    def json(self) -> Any:
        return json.loads(self.body[: int(self.headers.get(LENGTH, len(self.body)))])


def post(proxy: Running, model: str, told: Any, **headers: str) -> Answer:
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    return Answer(proxy.rest, "POST", f"/v2/models/{model}/infer", body, **headers)


def scale(data: Any, shape: Any = (1, 4), **more: Any) -> dict[str, Any]:
    return {"inputs": [{"name": "x", "shape": list(shape), "datatype": "FP32", "data": data}], **more}


@pytest.mark.parametrize("binary", [True, False])
def test_tritons_client_as_it_is(proxy: Running, server: ModelServer, binary: bool) -> None:
    with triton.InferenceServerClient(proxy.rest) as client:
        assert client.is_server_live()
        assert client.is_server_ready()
        assert client.is_model_ready("scale")
        assert not client.is_model_ready("unknown")
        assert client.get_model_metadata("scale")["inputs"] == [{"name": "x", "datatype": "FP32", "shape": [-1, 4]}]
        assert client.get_model_config("scale")["max_batch_size"] == 8
        given = triton.InferInput("x", [2, 4], "FP32")
        given.set_data_from_numpy(ONES, binary_data=binary)
        outputs = [triton.InferRequestedOutput("y", binary_data=binary)]
        found = client.infer("scale", [given], outputs=outputs, request_id="9", headers={"x-request-id": "9"})
        np.testing.assert_array_equal(found.as_numpy("y"), ONES * 2)
        assert found.get_response()["id"] == "9"
        assert server.metadata[-1]["x-request-id"] == "9"
        given.set_data_from_numpy(np.full((2, 4), np.nan, "<f4"), binary_data=binary)
        with pytest.raises(InferenceServerException) as caught:
            client.infer("scale", [given])
        assert caught.value.status() == "400"
        text = np.array([" hi ", "ho"], dtype=object)
        given = triton.InferInput("text", [2], "BYTES")
        given.set_data_from_numpy(text, binary_data=binary)
        assert client.infer("lengths", [given]).as_numpy("length").tolist() == [2, 2]


@pytest.mark.parametrize("compression", ["gzip", "deflate"])
def test_compressed_bodies(proxy: Running, compression: str) -> None:
    with triton.InferenceServerClient(proxy.rest) as client:
        given = triton.InferInput("x", [2, 4], "FP32")
        given.set_data_from_numpy(ONES)
        found = client.infer("scale", [given], request_compression_algorithm=compression)
        np.testing.assert_array_equal(found.as_numpy("y"), ONES * 2)


def test_json_flat_and_nested(proxy: Running) -> None:
    for data in ([1, 2, 3, 4.5, 5, 6, 7, 8], [[1, 2, 3, 4.5], [5, 6, 7, 8]]):
        found = post(proxy, "scale", scale(data, (2, 4)))
        assert found.status == 200
        assert found.headers["protocontract-model"] == "scale@1"
        assert found.json == {
            "model_name": "scale",
            "model_version": "1",
            "outputs": [
                {"name": "y", "datatype": "FP32", "shape": [2, 4], "data": [2, 4, 6, 9, 10, 12, 14, 16]},
            ],
        }


def test_null_is_as_good_as_nothing(proxy: Running) -> None:
    told = scale([1, 2, 3, 4], id=None, parameters=None, outputs=None)
    told["inputs"][0]["parameters"] = None
    assert post(proxy, "scale", told).status == 200


def test_binary_inputs_beside_json_ones_and_outputs_of_both_kinds(proxy: Running) -> None:
    told = {
        "inputs": [
            {"name": "int8", "shape": [1, 2], "datatype": "INT8", "parameters": {"binary_data_size": 2}},
            {"name": "fp64", "shape": [1, 2], "datatype": "FP64", "data": [0.5, -1]},
            {"name": "uint64", "shape": [1, 2], "datatype": "UINT64", "data": [0, 2**64 - 1]},
            {"name": "bool", "shape": [1, 2], "datatype": "BOOL", "parameters": {"binary_data_size": 2}},
            {"name": "bf16", "shape": [1, 2], "datatype": "BF16", "data": [1, 0.5]},
        ],
        "outputs": [{"name": name} for name in ("int8", "uint64", "bool", "bf16")]
        + [{"name": "fp64", "parameters": {"binary_data": True}}],
    }
    header = json.dumps(told).encode()
    found = post(proxy, "kinds", header + b"\x01\xff\x00\x01", **{LENGTH.replace("-", "_"): str(len(header))})
    assert found.status == 200, found.body
    outputs = {output["name"]: output for output in found.json["outputs"]}
    assert outputs["int8"]["data"] == [1, -1]
    assert outputs["uint64"]["data"] == [0, 2**64 - 1]
    assert outputs["bool"]["data"] == [False, True]
    assert outputs["bf16"]["data"] == [1.0, 0.5]
    assert outputs["fp64"]["parameters"] == {"binary_data_size": 16}
    assert np.frombuffer(found.body[int(found.headers[LENGTH]) :], "<f8").tolist() == [0.5, -1]
    everything = json.dumps({**told, "outputs": [], "parameters": {"binary_data_output": True}}).encode()
    found = post(proxy, "kinds", everything + b"\x01\xff\x00\x01", **{LENGTH.replace("-", "_"): str(len(everything))})
    assert all("data" not in output for output in found.json["outputs"])


def test_words_for_numbers_that_are_not_finite(proxy: Running, server: ModelServer) -> None:
    body = b'{"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP32", "data": [NaN, 1, -Infinity, 2]}]}'
    found = post(proxy, "scale", body)
    assert (found.status, found.json["reason"]) == (400, "TENSOR_FINITE")
    assert server.seen == []
    found = post(proxy, "loose", body)
    assert found.headers["protocontract-nonfinite"] == "x=2,y=2"
    first = found.json["outputs"][0]["data"]
    assert math.isnan(first[0])
    assert first[1:] == [2, -math.inf, 4]


def test_what_a_caller_is_told(proxy: Running) -> None:
    found = post(proxy, "scale", scale([1, 2, 3, 101]))
    assert found.status == 400
    assert found.headers["protocontract-contract"] == "kserve.v1.ScaleIn"
    told = found.json
    assert told["error"].startswith("the request breaks its contract: kserve.v1.ScaleIn x[3]: a number out of bounds")
    assert (told["code"], told["reason"]) == ("INVALID_ARGUMENT", "TENSOR_RANGE")
    assert told["metadata"]["version"] == "1.0.0"
    assert [each["field"] for each in told["violations"]] == ["x[3]"]


@pytest.mark.parametrize(
    "told",
    [
        b"{",
        b"[]",
        b"\xff",
        b"[" * 100_000,
        {},
        {"inputs": [1]},
        scale([1, 2, 3]),
        scale([1, 2, 3, 4, 5]),
        scale([[1, 2], [3, 4]]),
        scale([[1, 2], [3]], (1, 3)),
        scale([[1, 2, 3, 4]], (4, 1)),
        scale([1, 2, 3, "4"]),
        scale([1, 2, 3, True]),
        scale([1, 2, 3, None]),
        scale([1, 2, 3, 1e60]),
        scale([1, 2, 3, 10**400]),
        scale("1234"),
        scale(None),
        scale([1, 2, 3, 4], (-1, 4)),
        scale([1, 2, 3, 4], (1.0, 4)),
        scale([1, 2, 3, 4], parameters={"a": {}}),
        scale([1, 2, 3, 4], parameters=1),
        scale([1, 2, 3, 4], outputs=[{}]),
        scale([1, 2, 3, 4], outputs=1),
        scale([1, 2, 3, 4], outputs=[{"name": "secret"}]),
        scale([1, 2, 3, 4], id=1),
        scale([1, 2, 3, 4], id="\ud800"),
        {"inputs": [{"name": "x", "shape": [1, 4], "datatype": ["FP32"], "data": [1, 2, 3, 4]}]},
        {"inputs": [{"name": "x", "shape": [1, 4], "datatype": "FP33", "data": [1, 2, 3, 4]}]},
        {"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "parameters": {"binary_data_size": 4}}]},
        {
            "inputs": [
                {"name": "x", "shape": [1], "datatype": "FP32", "parameters": {"binary_data_size": 0}, "data": []}
            ]
        },
    ],
)
def test_a_body_that_is_no_request_is_the_callers_mistake(proxy: Running, server: ModelServer, told: Any) -> None:
    found = post(proxy, "scale", told)
    assert found.status == 400
    assert found.json["code"] == "INVALID_ARGUMENT"
    assert "secret" not in found.json["error"]
    assert server.seen == []


@pytest.mark.parametrize(
    ("datatype", "value"), [("INT8", 128), ("INT64", 2**63), ("UINT8", -1), ("INT32", 0.5), ("BOOL", 2), ("FP16", 1e6)]
)
def test_a_number_that_its_datatype_does_not_have(proxy: Running, datatype: str, value: float) -> None:
    entry = {"name": datatype.lower(), "shape": [1, 1], "datatype": datatype, "data": [value]}
    assert post(proxy, "kinds", {"inputs": [entry]}).status == 400


@pytest.mark.parametrize("length", ["x", "-1", "99999", "1" * 50])
def test_a_length_of_json_that_is_none(proxy: Running, length: str) -> None:
    assert post(proxy, "scale", scale([1, 2, 3, 4]), **{LENGTH.replace("-", "_"): length}).status == 400


def test_bytes_that_nothing_in_the_request_is_about(proxy: Running) -> None:
    header = json.dumps(scale([1, 2, 3, 4])).encode()
    found = post(proxy, "scale", header + b"more", **{LENGTH.replace("-", "_"): str(len(header))})
    assert "4 bytes of binary data that belong to no input" in found.json["error"]


def test_statuses(proxy: Running) -> None:
    assert post(proxy, "nan", scale([1, 2, 3, 4])).status == 500
    assert post(proxy, "unknown", scale([1, 2, 3, 4])).status == 404
    assert post(proxy, "scale/versions/9", scale([1, 2, 3, 4])).status == 500  # the server answers with version 1
    assert post(proxy, "scale/versions/1", scale([1, 2, 3, 4])).status == 200
    assert Answer(proxy.rest, "GET", "/v2/models/scale/infer").status == 405
    assert Answer(proxy.rest, "GET", "/v2/repository/index").status == 404
    assert Answer(proxy.rest, "GET", "/v2").json["name"] == "stand-in"
    assert Answer(proxy.rest, "GET", "/v2/models/unknown").status == 404
    for path in ("%ED%A0%80", "scale/versions/%ED%A0%80", "scale/versions/%FF", "a%2Fb", "%00"):
        assert Answer(proxy.rest, "GET", f"/v2/models/{path}").status < 500


def test_a_mistake_of_ours_does_not_tell_the_data(proxy: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise KeyError("secret")

    monkeypatch.setattr("protocontract.serving.kserve.web.read_request", fail)
    found = post(proxy, "scale", scale([1, 2, 3, 4]))
    assert (found.status, found.json["error"]) == (500, "the service failed (KeyError)")


def test_a_body_above_the_limit_compressed_or_not(server: ModelServer) -> None:
    from protocontract.serving.methods import Level

    models = [declared("scale", "ScaleIn", "ScaleOut", Level(max_request_bytes=200))]
    with proxied(server.address, models) as running:
        long = json.dumps(scale([1, 2, 3, 4], id="i" * 400)).encode()
        for body, headers in ((long, {}), (gzip.compress(long), {"Content_Encoding": "gzip"})):
            found = post(running, "scale", body, **headers)
            assert (found.status, found.json["reason"]) == (413, "REQUEST_TOO_LARGE")
            assert "200 (max_request_bytes)" in found.json["error"]
        assert post(running, "scale", scale([1, 2, 3, 4])).status == 200


def test_a_server_that_is_not_there() -> None:
    with proxied("127.0.0.1:9", [declared("scale", "ScaleIn", "ScaleOut")]) as running:
        assert post(running, "scale", scale([1, 2, 3, 4])).status == 503
        assert Answer(running.rest, "GET", "/v2/health/ready").status == 503
        assert Answer(running.rest, "GET", "/v2/health/live").status == 200
