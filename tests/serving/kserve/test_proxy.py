"""The proxy before a model server, over gRPC: tritonclient calls it as it would call the server."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from typing import Any

import grpc
import numpy as np
import pytest
import tritonclient.grpc as triton
from google.rpc import error_details_pb2, status_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from tritonclient.grpc import service_pb2, service_pb2_grpc
from tritonclient.utils import InferenceServerException

from protocontract.chain import Level as Evidence
from protocontract.serving.kserve import Proxy
from protocontract.serving.kserve.models import Catalogue
from protocontract.serving.methods import Level
from protocontract.violations import ContractError
from tests.serving.kserve.conftest import BAD
from tests.serving.kserve.support import SCALE, ModelServer, Running, asked, declared, doubled, proxied, served, stub_of

ONES = np.ones((2, 4), "<f4")


@pytest.fixture(scope="module")
def client(proxy: Running) -> Iterator[Any]:
    with triton.InferenceServerClient(proxy.grpc) as found:
        yield found


@pytest.fixture(scope="module")
def stub(proxy: Running) -> Iterator[Any]:
    with stub_of(proxy) as found:
        yield found


def tensor(name: str, array: Any, datatype: str = "FP32") -> Any:
    found = triton.InferInput(name, list(array.shape), datatype)
    found.set_data_from_numpy(array)
    return found


def request(model: str, array: Any = ONES, *, typed: bool = False, **more: Any) -> Any:
    found = service_pb2.ModelInferRequest(model_name=model, **more)
    entry = found.inputs.add(name="x", datatype="FP32", shape=array.shape)
    if typed:
        entry.contents.fp32_contents.extend(array.reshape(-1).tolist())
    else:
        found.raw_input_contents.append(array.tobytes())
    return found


def refused(stub: Any, asked: Any) -> tuple[grpc.StatusCode, str, Any]:
    """The status of a call, its text and its ErrorInfo."""
    with pytest.raises(grpc.RpcError) as caught:
        stub.ModelInfer(asked)
    error: Any = caught.value
    details = dict(error.trailing_metadata()).get("grpc-status-details-bin")
    info = error_details_pb2.ErrorInfo()
    if details:
        for each in status_pb2.Status.FromString(details).details:
            each.Unpack(info)
            if info.reason:
                break
    return error.code(), error.details(), info


def test_a_client_of_the_server_is_a_client_of_the_proxy(client: Any, server: ModelServer) -> None:
    assert client.is_server_live()
    assert client.is_server_ready()
    assert client.is_model_ready("scale")
    assert client.get_server_metadata().name == "stand-in"
    assert client.get_model_metadata("scale").inputs[0].name == "x"
    assert client.get_model_config("scale").config.max_batch_size == 8
    found = client.infer("scale", [tensor("x", ONES)], request_id="7", headers={"authorization": "who"})
    np.testing.assert_array_equal(found.as_numpy("y"), ONES * 2)
    assert found.get_response().id == "7"
    assert server.metadata[-1]["authorization"] == "who"


def test_typed_and_raw_contents_go_on_as_they_came(stub: Any, server: ModelServer) -> None:
    for typed in (False, True):
        found = stub.ModelInfer(request("scale", typed=typed))
        assert found.raw_output_contents[0] == (ONES * 2).tobytes()
        assert bool(server.seen[-1].raw_input_contents) is not typed


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 101.0])
def test_a_request_outside_of_its_contract_never_reaches_the_server(
    stub: Any, server: ModelServer, bad: float, typed: bool
) -> None:
    array = ONES.copy()
    array[1, 2] = bad
    code, text, info = refused(stub, request("scale", array, typed=typed))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert "x[6]" in text
    assert info.metadata["contract"] == "kserve.v1.ScaleIn"
    assert info.metadata["rule_id"] == ("tensor.range" if bad == 101.0 else "tensor.finite")
    assert server.seen == []


def test_what_the_contract_lets_pass_is_passed_on_and_marked(stub: Any) -> None:
    array = ONES.copy()
    array[0, 1] = np.nan
    found, call = stub.ModelInfer.with_call(request("loose", array))
    metadata = dict(call.trailing_metadata())
    assert metadata["protocontract-nonfinite"] == "x=1,y=1"
    assert metadata["protocontract-model"] == "loose@1"
    clean = np.frombuffer(found.raw_output_contents[0], "<f4").reshape(2, 4)
    np.testing.assert_array_equal(clean[1], [2, 2, 2, 2])
    _, call = stub.ModelInfer.with_call(request("loose"))
    assert "protocontract-nonfinite" not in dict(call.trailing_metadata())


@pytest.mark.parametrize(
    ("array", "rule"),
    [
        (np.ones((4, 2), "<f4"), "tensor.shape"),  # as many elements as [2, 4] has
        (np.ones(8, "<f4"), "tensor.shape"),
        (np.ones((9, 4), "<f4"), "tensor.shape"),
        (np.ones((0, 4), "<f4"), "tensor.shape"),
    ],
)
def test_shapes_are_compared_though_bytes_do_not_show_them(stub: Any, array: Any, rule: str) -> None:
    code, _, info = refused(stub, request("scale", array))
    assert (code, info.metadata["rule_id"]) == (grpc.StatusCode.INVALID_ARGUMENT, rule)


def broken(kind: str) -> Any:
    """A request that says something else than it holds, or holds what nobody can look at."""
    asked = request("scale")
    entry = asked.inputs[0]
    if kind == "shape":
        entry.shape[0] = 3
    elif kind == "negative":
        entry.shape[:] = [-2, -4]
    elif kind == "datatype":
        entry.datatype = "FP64"
    elif kind == "no datatype":
        entry.datatype = "secret"
    elif kind == "name":
        entry.name = "secret"
    elif kind == "twice":
        asked.inputs.append(entry)
        asked.raw_input_contents.append(asked.raw_input_contents[0])
    elif kind == "none":
        del asked.inputs[:]
        del asked.raw_input_contents[:]
    elif kind == "raw":
        asked.raw_input_contents.append(b"")
    elif kind == "both":
        entry.contents.fp32_contents.append(1)
    elif kind == "contents":
        del asked.raw_input_contents[:]
        entry.contents.int_contents.extend([1] * 8)
    elif kind == "cut":
        asked.raw_input_contents[0] = asked.raw_input_contents[0][:-1]
    elif kind == "shared":
        entry.parameters["shared_memory_region"].string_param = "secret"
    elif kind == "shared output":
        asked.outputs.add(name="y").parameters["shared_memory_region"].string_param = "secret"
    elif kind == "classification":
        asked.outputs.add(name="y").parameters["classification"].int64_param = 2
    elif kind == "output":
        asked.outputs.add(name="secret")
    return asked


@pytest.mark.parametrize(
    "kind",
    [
        "shape", "negative", "datatype", "no datatype", "name", "twice", "none", "raw", "both", "contents", "cut",
        "shared", "shared output", "classification", "output",
    ],
)  # fmt: skip
def test_a_request_that_is_not_what_it_says_is_refused(stub: Any, server: ModelServer, kind: str) -> None:
    code, text, info = refused(stub, broken(kind))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert info.domain == "protocontract"
    assert "secret" not in text
    assert server.seen == []


def test_bytes_that_are_no_request_are_the_callers_mistake(proxy: Running) -> None:
    with grpc.insecure_channel(proxy.grpc) as channel:
        call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer")
        with pytest.raises(grpc.RpcError) as caught:
            call(b"\xff\xff\xff")
    error: Any = caught.value
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("model", BAD)
def test_a_response_outside_of_its_contract_is_no_answer(
    stub: Any, server: ModelServer, model: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "protocontract.serving"):
        asked = request(model, np.ones((1, 4), "<f4"), model_version="1" if model == "version" else "")
        code, text, info = refused(stub, asked)
    assert code is grpc.StatusCode.INTERNAL
    assert "secret" not in text
    reasons = {"rows": "WRONG_ROWS", "version": "VERSION_MISMATCH", "fails": "UPSTREAM", "nothing": "REQUIRED"}
    rules = {"nan": "TENSOR_FINITE", "dtype": "TENSOR_DTYPE", "width": "TENSOR_SHAPE", "short": "TENSOR_SIZE"}
    assert info.reason == {**reasons, **rules}[model]
    assert len(server.seen) == 1
    # Its caller cannot mend it, so whoever runs the service hears of it.
    assert bool(caplog.records) is (model != "fails")


def test_outputs_that_nobody_asked_for_are_looked_at_too_but_not_passed_on(stub: Any, server: ModelServer) -> None:
    asked = request("loose")
    asked.outputs.add(name="z")
    found = stub.ModelInfer(asked)
    assert [output.name for output in found.outputs] == ["z"]
    assert len(found.raw_output_contents[0]) == 8
    assert len(found.raw_output_contents) == 1
    assert [output.name for output in server.seen[-1].outputs] == ["y", "z"]
    # An output that no contract has goes to nobody.
    assert [output.name for output in stub.ModelInfer(request("loose")).outputs] == ["y", "z"]


def test_models_and_rpcs_that_are_not_declared_are_not_passed_on(client: Any, stub: Any, server: ModelServer) -> None:
    assert refused(stub, request("large"))[0] is grpc.StatusCode.NOT_FOUND
    for ask in (
        lambda: client.get_model_metadata("large"),
        lambda: client.is_model_ready("large"),
        lambda: client.get_model_config("large"),
    ):
        with pytest.raises(InferenceServerException) as caught:
            ask()
        assert "NOT_FOUND" in caught.value.status()
    for ask in (
        lambda: client.load_model("scale"),
        lambda: client.get_model_repository_index(),
        lambda: client.get_system_shared_memory_status(),
    ):
        with pytest.raises(InferenceServerException) as caught:
            ask()
        assert "UNIMPLEMENTED" in caught.value.status()
    assert server.seen == []


def test_texts_are_normalised_and_checked(stub: Any, server: ModelServer) -> None:
    texts = np.array([b"  one ", "zwölf".encode()], dtype=object)
    asked = service_pb2.ModelInferRequest(model_name="lengths")
    entry = asked.inputs.add(name="text", datatype="BYTES", shape=[2, 1])
    entry.contents.bytes_contents.extend(texts)
    assert list(stub.ModelInfer(asked).outputs[0].contents.int64_contents) == [3, 6]
    assert list(server.seen[-1].inputs[0].contents.bytes_contents) == [b"one", "zwölf".encode()]
    entry.contents.bytes_contents[1] = b"\xff"
    assert refused(stub, asked)[2].metadata["rule_id"] == "tensor.dtype"
    entry.contents.bytes_contents[1] = b"   "
    assert refused(stub, asked)[2].metadata["rule_id"] == "string.min_len"
    raw = service_pb2.ModelInferRequest(model_name="lengths")
    raw.inputs.add(name="text", datatype="BYTES", shape=[1])
    raw.raw_input_contents.append(b"\x05\0\0\0 fou ")
    assert list(stub.ModelInfer(raw).outputs[0].contents.int64_contents) == [3]
    assert server.seen[-1].raw_input_contents[0] == b"\x03\0\0\0fou"
    raw.raw_input_contents[0] = b"\x09\0\0\0 fou "
    assert refused(stub, raw)[2].metadata["rule_id"] == "tensor.size"


def test_messages_of_one_sample_each_are_rows(client: Any, stub: Any) -> None:
    ids = np.array([[1, 2, 3], [4, 5, 6]], "<i8")
    inputs = [tensor("ids", ids, "INT64"), tensor("mask", np.ones_like(ids), "INT64")]
    assert client.infer("encoder", inputs).as_numpy("vector").shape == (2, 3)
    ids[1, 1] = 100
    with pytest.raises(InferenceServerException) as caught:
        client.infer("encoder", [tensor("ids", ids, "INT64"), inputs[1]])
    assert "message 1 breaks its contract" in caught.value.message()
    shorter = np.ones((2, 2), "<i8")
    with pytest.raises(InferenceServerException) as caught:
        client.infer("encoder", [inputs[0], tensor("mask", shorter, "INT64")])
    assert "dim tokens has two sizes" in caught.value.message()
    fewer = np.ones((1, 3), "<i8")
    with pytest.raises(InferenceServerException) as caught:
        client.infer("encoder", [inputs[0], tensor("mask", fewer, "INT64")])
    assert "several numbers of samples: 1, 2" in caught.value.message()


@pytest.mark.parametrize("shape", [[1 << 50, 0], [0, 1 << 50], [1 << 62, 0]])
def test_rows_of_nothing_cost_nothing(stub: Any, shape: list[int]) -> None:
    """A few bytes must not make somebody count to 2^50."""
    asked = service_pb2.ModelInferRequest(model_name="encoder")
    for name in ("ids", "mask"):
        asked.inputs.add(name=name, datatype="INT64", shape=shape)
    assert refused(stub, asked)[2].metadata["rule_id"] == "tensor.shape"
    texts = service_pb2.ModelInferRequest(model_name="lengths")
    texts.inputs.add(name="text", datatype="BYTES", shape=shape)
    assert refused(stub, texts)[2].metadata["rule_id"] == "tensor.shape"


def test_bytes_of_one_text_a_sample(stub: Any) -> None:
    asked = service_pb2.ModelInferRequest(model_name="reply")
    asked.inputs.add(name="text", datatype="BYTES", shape=[2]).contents.bytes_contents.extend([b"hi", b"ho"])
    assert list(stub.ModelInfer(asked).outputs[0].contents.bytes_contents) == [b"hi!", b"ho!"]
    asked.inputs[0].contents.bytes_contents[0] = b""
    assert refused(stub, asked)[2].metadata["rule_id"] == "string.min_len"


KINDS = {
    "bool": ("BOOL", "?", "bool_contents"), "int8": ("INT8", "<i1", "int_contents"),
    "int16": ("INT16", "<i2", "int_contents"), "int32": ("INT32", "<i4", "int_contents"),
    "int64": ("INT64", "<i8", "int64_contents"), "uint8": ("UINT8", "<u1", "uint_contents"),
    "uint16": ("UINT16", "<u2", "uint_contents"), "uint32": ("UINT32", "<u4", "uint_contents"),
    "uint64": ("UINT64", "<u8", "uint64_contents"), "fp32": ("FP32", "<f4", "fp32_contents"),
    "fp64": ("FP64", "<f8", "fp64_contents"),
}  # fmt: skip


def test_every_datatype_raw_and_typed(stub: Any) -> None:
    raw, typed = (service_pb2.ModelInferRequest(model_name="kinds") for _ in range(2))
    for name, (datatype, stored, contents) in KINDS.items():
        array = np.array([[0, 1]], stored)
        raw.inputs.add(name=name, datatype=datatype, shape=[1, 2])
        raw.raw_input_contents.append(array.tobytes())
        entry = typed.inputs.add(name=name, datatype=datatype, shape=[1, 2])
        getattr(entry.contents, contents).extend(array.reshape(-1).tolist())
    for name, datatype in (("fp16", "FP16"), ("bf16", "BF16")):
        raw.inputs.add(name=name, datatype=datatype, shape=[1, 2])
        raw.raw_input_contents.append(b"\0\0\x80\x3f")
    assert stub.ModelInfer(raw).raw_output_contents == raw.raw_input_contents
    found = stub.ModelInfer(typed)
    assert [output.contents for output in found.outputs] == [entry.contents for entry in typed.inputs]


@pytest.mark.parametrize(
    ("name", "datatype", "contents", "value"),
    [("int8", "INT8", "int_contents", 128), ("uint16", "UINT16", "uint_contents", 65536), ("fp16", "FP16", "", 0)],
)
def test_a_number_that_its_datatype_does_not_have(
    stub: Any, name: str, datatype: str, contents: str, value: int
) -> None:
    asked = service_pb2.ModelInferRequest(model_name="kinds")
    entry = asked.inputs.add(name=name, datatype=datatype, shape=[1, 1])
    if contents:
        getattr(entry.contents, contents).append(value)
    assert refused(stub, asked)[2].metadata["rule_id"] == "tensor.dtype"


def test_a_bool_that_is_neither(stub: Any) -> None:
    asked = service_pb2.ModelInferRequest(model_name="kinds", raw_input_contents=[b"\2"])
    asked.inputs.add(name="bool", datatype="BOOL", shape=[1, 1])
    assert refused(stub, asked)[2].metadata["rule_id"] == "tensor.dtype"


def test_the_health_check_and_reflection_are_grpcs_own(proxy: Running, server: ModelServer) -> None:
    with grpc.insecure_channel(proxy.grpc) as channel:
        health = health_pb2_grpc.HealthStub(channel)
        service = "inference.GRPCInferenceService"
        assert health.Check(health_pb2.HealthCheckRequest(service=service)).status == 1
        server.ready = False
        try:
            assert health.Check(health_pb2.HealthCheckRequest()).status == 2
            stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
            assert not stub.ServerReady(service_pb2.ServerReadyRequest()).ready
        finally:
            server.ready = True
        with pytest.raises(grpc.RpcError):
            health.Check(health_pb2.HealthCheckRequest(service="other"))
        asked = reflection_pb2.ServerReflectionRequest(list_services="")
        (answer,) = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(iter([asked]))
        assert service in [each.name for each in answer.list_services_response.service]


# -- sizes, times, versions, a server that is not there


def test_big_requests_pass_up_to_the_limit_which_is_named(stub: Any, server: ModelServer) -> None:
    level = Level(max_request_bytes=4 * 1024 * 1024)
    with proxied(server.address, [declared("loose", "LooseIn", "LooseOut", level)]) as running:
        with triton.InferenceServerClient(running.grpc) as client:
            wide = np.ones((250_000, 4), "<f4")
            found = client.infer("loose", [tensor("x", wide)]).as_numpy("y")
            assert found.shape == wide.shape
            with pytest.raises(InferenceServerException) as caught:
                client.infer("loose", [tensor("x", np.ones((270_000, 4), "<f4"))])
        assert "RESOURCE_EXHAUSTED" in caught.value.status()
        assert "4194304 (max_request_bytes)" in caught.value.message()


def test_a_response_above_the_limit_is_one_callers_misfortune(server: ModelServer) -> None:
    models = [declared("large", "LooseIn", "LooseOut")]
    with proxied(server.address, models, max_response_bytes=100) as running, stub_of(running) as stub:
        code, text, info = refused(stub, request("large"))
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert info.reason == "RESPONSE_TOO_LARGE"
    assert "100 bytes" in text


def test_a_model_that_hangs_is_ended_at_the_levels_deadline_or_the_callers() -> None:
    over = threading.Event()

    def hang(asked: Any) -> Any:
        over.wait(120)
        return doubled(asked)

    with served(ModelServer({"scale": (*SCALE, hang)})) as server:
        models = [declared("scale", "ScaleIn", "ScaleOut", Level(deadline=0.2, max_deadline=0.3))]
        with proxied(server.address, models) as running, stub_of(running) as stub:
            code, _, info = refused(stub, request("scale"))
            assert (code, info.reason) == (grpc.StatusCode.DEADLINE_EXCEEDED, "UPSTREAM")
            with pytest.raises(grpc.RpcError) as caught:
                stub.ModelInfer(request("scale"), timeout=0.1)
            error: Any = caught.value
            assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            with pytest.raises(grpc.RpcError) as caught:
                stub.ModelInfer(request("scale"), timeout=120)
            error = caught.value
            assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            over.set()


def test_a_caller_that_gives_up_is_given_up_behind() -> None:
    entered, gone, over = threading.Event(), threading.Event(), threading.Event()

    def hang(asked: Any) -> Any:
        entered.set()
        over.wait(120)
        return doubled(asked)

    server = ModelServer({"scale": (*SCALE, hang)}, on_end=gone.set)
    with asked(server, [declared("scale", "ScaleIn", "ScaleOut")]) as stub:
        call = stub.ModelInfer.future(request("scale"))
        assert entered.wait(120)
        call.cancel()
        assert gone.wait(120)
        over.set()


def test_an_answer_with_the_id_of_another_request_is_nobodys() -> None:
    def other(asked: Any) -> Any:
        found = doubled(asked)
        found.id = "2"
        return found

    models = [declared("scale", "ScaleIn", "ScaleOut")]
    with asked(ModelServer({"scale": (*SCALE, other)}), models) as stub:
        code, text, _ = refused(stub, request("scale", id="1"))
        assert (code, text) == (grpc.StatusCode.INTERNAL, "the model answered with the id of another request")
        assert stub.ModelInfer(request("scale", id="2")).id == "2"
        assert stub.ModelInfer(request("scale")).id == "2"


def test_a_rate_that_is_spent(server: ModelServer) -> None:
    models = [declared("scale", "ScaleIn", "ScaleOut", Level(rate=(0.001, 1)))]
    with proxied(server.address, models) as running, stub_of(running) as stub:
        stub.ModelInfer(request("scale"))
        code, _, info = refused(stub, request("scale"))
        assert (code, info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMIT")


def test_s21_more_than_the_queue_holds_is_refused_at_once() -> None:
    entered, over = threading.Semaphore(0), threading.Event()

    def hang(asked: Any) -> Any:
        entered.release()
        over.wait(120)
        return doubled(asked)

    models = [declared("scale", "ScaleIn", "ScaleOut", Level(queue=2))]
    with asked(ModelServer({"scale": (*SCALE, hang)}), models) as stub:
        inside = [stub.ModelInfer.future(request("scale")) for _ in range(2)]
        for _ in inside:
            assert entered.acquire(timeout=120)
        code, _, info = refused(stub, request("scale"))
        assert (code, info.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "QUEUE_FULL")
        over.set()
        assert [call.result().model_name for call in inside] == ["scale", "scale"]
        assert stub.ModelInfer(request("scale")).model_name == "scale"


def test_a_server_that_goes_and_comes_back() -> None:
    models = [declared("scale", "ScaleIn", "ScaleOut")]
    with served(ModelServer({"scale": (*SCALE, doubled)})) as server:
        port = server.port
        running = Running(lambda: Proxy(server.address, models))
    try:
        with stub_of(running) as stub:
            code, text, info = refused(stub, request("scale"))
            assert (code, info.reason) == (grpc.StatusCode.UNAVAILABLE, "UPSTREAM")
            assert text == "the model server cannot be reached (UNAVAILABLE)"
            assert not stub.ServerReady(service_pb2.ServerReadyRequest()).ready
            assert stub.ServerLive(service_pb2.ServerLiveRequest()).live
            with pytest.raises(ContractError, match=r"scale at 127\.0\.0\.1:\d+: the model server cannot be reached"):
                running.run(running.proxy.check())
            with served(ModelServer({"scale": (*SCALE, doubled)}), port):
                running.run(running.proxy.wait(120))
                assert stub.ModelInfer(request("scale")).model_name == "scale"
    finally:
        running.close()


def test_while_it_drains_it_takes_nothing_new(server: ModelServer) -> None:
    with proxied(server.address, [declared("scale", "ScaleIn", "ScaleOut")]) as running:
        running.proxy.drain()
        with stub_of(running) as stub:
            code, _, info = refused(stub, request("scale"))
            assert (code, info.reason) == (grpc.StatusCode.UNAVAILABLE, "DRAINING")
            assert not stub.ServerReady(service_pb2.ServerReadyRequest()).ready


def test_versions_with_contracts_of_their_own() -> None:
    def answer(asked: Any) -> Any:
        found = doubled(asked)
        found.model_version = asked.model_version or "2"
        return found

    models = [declared("scale", "ScaleIn", "ScaleOut", version=each) for each in ("1", "2")]
    with (
        served(ModelServer({"scale": (*SCALE, answer)})) as server,
        proxied(server.address, models) as running,
        stub_of(running) as stub,
    ):
        assert stub.ModelInfer(request("scale", model_version="2")).model_version == "2"
        for version in ("", "3"):
            code, _, info = refused(stub, request("scale", model_version=version))
            assert (code, info.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "VERSION_MISMATCH")
            assert (info.metadata["asked"], info.metadata["served"]) == (version, "1, 2")
        with proxied(server.address, models[:1]) as one, stub_of(one) as stub:
            # With one declared version, that is what is asked for.
            assert stub.ModelInfer(request("scale")).model_version == "1"


def test_the_servers_words_only_where_it_was_asked_for(server: ModelServer) -> None:
    with (
        proxied(server.address, [declared("fails", "ScaleIn", "ScaleOut")], texts=True) as running,
        stub_of(running) as stub,
    ):
        assert refused(stub, request("fails"))[1] == "the model server failed (INTERNAL): secret: 0.123"


def test_a_mistake_of_ours_does_not_tell_the_data(
    stub: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any) -> Any:
        raise KeyError("secret")

    monkeypatch.setattr("protocontract.serving.kserve.binding.Binding.check", fail)
    code, text, info = refused(stub, request("scale"))
    assert (code, text, info.reason) == (grpc.StatusCode.INTERNAL, "the service failed (KeyError)", "SERVICE_FAILED")
    assert "secret" not in caplog.text


# -- before it serves


def test_models_are_compared_with_their_contracts() -> None:
    models = {
        "scale": ({"x": ("FP64", [-1, 3]), "more": ("FP32", [1])}, {"z": ("FP32", [-1, 4])}, doubled),
        "lengths": ({"text": ("FP32", [-1])}, {"other": ("BYTES", [-1])}, doubled),
    }
    declarations = [declared("scale", "ScaleIn", "ScaleOut"), declared("lengths", "Question", "Reply")]
    with served(ModelServer(models)) as server, proxied(server.address, declarations) as running:
        scale, lengths = running.run(running.proxy.check())
    assert [str(each).partition(" (")[0] for each in scale.differences] == [
        "scale input `x` is float64[?, 3]; the contract says float32[rows, 4]",
        "scale takes input `more` float32[1]; kserve.v1.ScaleIn has no such tensor, only `x`",
        "scale has no output `y`, only `z`; the contract says float32[rows, 4]",
    ]
    assert [each.kind for each in scale.differences] == ["input", "input", "output"]
    assert [str(each).partition(" (")[0] for each in lengths.differences] == [
        "lengths input `text` is float32[?]; the contract says BYTES",
        "lengths has no output `reply`; the contract says BYTES",
    ]


@pytest.mark.parametrize(
    ("declarations", "text"),
    [
        ([], "no model is declared"),
        ([("scale", "ScaleIn", "ScaleOut")] * 2, "scale is declared twice"),
    ],
)
def test_declarations_that_make_no_proxy(declarations: list[tuple[str, str, str]], text: str) -> None:
    with pytest.raises(ContractError, match=text):
        Catalogue([declared(*each) for each in declarations])


def test_required_evidence_is_not_left_out_in_silence() -> None:
    (number,) = (each for each in range(4) if Evidence.of(each) is Evidence.REQUIRED)
    with pytest.raises(ContractError, match="scale requires evidence, and a proxy keeps none"):
        Catalogue([declared("scale", "ScaleIn", "ScaleOut", Level(evidence=number))])
