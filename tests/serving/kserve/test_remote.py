"""``RemoteModel`` over both protocols, with the proxy as its server where REST is spoken: it does so as servers do."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import numpy as np
import pytest
from tritonclient.grpc import service_pb2

from protocontract.models import RunFailed, WrongInput, compare
from protocontract.models.comparison import Expected
from protocontract.models.engine import Engine
from protocontract.serving.kserve import RemoteModel, Target
from protocontract.violations import ContractError
from tests.serving.kserve.support import SCALE, ModelServer, Running, contracts, doubled, served

ONES = np.ones((2, 4), "<f4")


@pytest.fixture(scope="module", params=["grpc", "http"])
def connect(
    request: pytest.FixtureRequest, server: ModelServer, proxy: Running
) -> Iterator[Callable[..., RemoteModel]]:
    opened: list[RemoteModel] = []
    address = server.address if request.param == "grpc" else proxy.rest

    def make(model: str, **options: Any) -> RemoteModel:
        opened.append(RemoteModel(f"{request.param}://{address}/{model}", **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def test_it_is_an_engine(connect: Callable[..., RemoteModel]) -> None:
    engine: Engine = connect("scale")
    assert engine.name == "scale"
    assert [str(port) for port in engine.signature.inputs] == ["float32[?, 4]"]
    expected = Expected(contracts()["ScaleIn"], contracts()["ScaleOut"])
    assert compare(engine.name, engine.signature, expected).differences == ()
    ran = engine.run({"x": ONES})
    np.testing.assert_array_equal(ran.outputs["y"], ONES * 2)
    assert ran.provider == engine.provider
    assert engine.provider in ("kserve-grpc", "kserve-http")
    assert ran.facts == {"model": "scale@1", "identity": engine.identity.digest, "provider": engine.provider}
    assert (engine.identity.runtime, engine.identity.runtime_version) == ("stand-in", "1.2.3")
    assert engine.identity.sha256 == ""


def test_outputs_that_are_asked_for(connect: Callable[..., RemoteModel]) -> None:
    assert list(connect("loose").run({"x": ONES}, ["z"]).outputs) == ["z"]


def test_nothing_is_sent_that_the_model_does_not_take(connect: Callable[..., RemoteModel], server: ModelServer) -> None:
    model = connect("scale")
    for inputs, outputs in (
        ({}, None),
        ({"x": ONES, "z": ONES}, None),
        ({"x": ONES.astype("f8")}, None),
        ({"x": ONES[:, :3]}, None),
        ({"x": ONES}, ["z"]),
    ):
        with pytest.raises(WrongInput):
            model.run(inputs, outputs)
    assert server.seen == []


def test_every_dtype_and_texts(connect: Callable[..., RemoteModel]) -> None:
    model = connect("kinds")
    given = {
        **{name: np.array([[0, 1]], name) for name in ("bool", "int8", "int16", "int32", "int64")},
        **{name: np.array([[0, 1]], name) for name in ("uint8", "uint16", "uint32", "uint64")},
        **{f"fp{bits}": np.array([[0, 1.5]], f"float{bits}") for bits in (16, 32, 64)},
    }
    found = model.run(given).outputs
    assert found.keys() == given.keys()
    for name, array in given.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    texts = np.array([b"one", "zwölf".encode()], dtype=object)
    assert connect("lengths").run({"text": texts}).outputs["length"].tolist() == [3, 6]
    reply = connect("reply").run({"text": texts}).outputs["reply"]
    assert reply.tolist() == [b"one!", "zwölf!".encode()]


def test_bfloat16_is_its_16_bits() -> None:
    def model(request: Any) -> Any:
        found = service_pb2.ModelInferResponse(model_name="half", raw_output_contents=request.raw_input_contents)
        found.outputs.add(name="y", datatype="BF16", shape=request.inputs[0].shape)
        return found

    ports = {"x": ("BF16", [-1])}, {"y": ("BF16", [-1])}
    with served(ModelServer({"half": (*ports, model)})) as server:
        engine = RemoteModel(f"grpc://{server.address}/half")
        bits = np.array([0x3F80, 0x4000], "<u2")
        found = engine.run({"x": bits}).outputs["y"]
        engine.close()
    assert found.dtype == np.dtype("uint16")
    assert found.tolist() == bits.tolist()


def test_threads_share_it(connect: Callable[..., RemoteModel]) -> None:
    model = connect("scale")

    def ask(number: int) -> bool:
        array = np.full((1, 4), number, "<f4")
        return bool((model.run({"x": array}).outputs["y"] == 2 * number).all())

    with ThreadPoolExecutor(8) as executor:
        assert all(executor.map(ask, range(50)))


@pytest.mark.parametrize("model", ["fails", "short", "nothing"])
def test_a_run_that_gave_nothing(connect: Callable[..., RemoteModel], model: str) -> None:
    with pytest.raises(RunFailed) as caught:
        connect(model).run({"x": ONES})
    assert caught.value.kind == "runtime"
    assert "secret" not in str(caught.value)


def test_a_model_that_nobody_knows(connect: Callable[..., RemoteModel]) -> None:
    with pytest.raises(ContractError, match=r"does not know the model or its version \(NOT_FOUND\)"):
        connect("unknown")


@pytest.mark.parametrize("scheme", ["grpc", "http"])
def test_a_server_that_is_not_there(scheme: str) -> None:
    with pytest.raises(ContractError, match=rf"{scheme}://127\.0\.0\.1:9/scale: the model server cannot be reached"):
        RemoteModel(f"{scheme}://127.0.0.1:9/scale")


def test_a_server_that_goes_while_it_is_used() -> None:
    with served(ModelServer({"scale": (*SCALE, doubled)})) as server:
        model = RemoteModel(f"grpc://{server.address}/scale")
    with pytest.raises(RunFailed) as caught:
        model.run({"x": ONES})
    model.close()
    assert caught.value.kind == "provider"


def test_a_server_that_does_not_answer_in_time(proxy: Running, server: ModelServer) -> None:
    over = threading.Event()

    def hang(request: Any) -> Any:
        over.wait(120)
        return grpc.StatusCode.INTERNAL

    with served(ModelServer({"scale": (*SCALE, hang)})) as slow:
        model = RemoteModel(f"grpc://{slow.address}/scale", timeout=0.2)
        with pytest.raises(RunFailed, match=r"did not answer in time \(DEADLINE_EXCEEDED\)") as caught:
            model.run({"x": ONES})
        over.set()
        model.close()
    assert caught.value.kind == "provider"


def test_rest_that_does_not_answer_in_time() -> None:
    import socket

    # Takes connections, as the system does for it, and never answers.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(ContractError, match=r"did not answer in time \(DEADLINE_EXCEEDED\)"):
            RemoteModel(f"http://127.0.0.1:{port}/scale", connect_timeout=0.2)


@pytest.mark.parametrize(
    "text", ["scale", "grpc://127.0.0.1/scale", "ftp://h:1/m", "grpc://h:1", "grpc://h:1/", "http://h:1/m/1/2"]
)
def test_texts_that_are_no_target(text: str) -> None:
    with pytest.raises(ContractError, match="is no remote model; expected grpc://HOST:PORT/MODEL"):
        Target.parse(text)


def test_targets() -> None:
    assert Target.parse("grpc://h:1/m/3") == Target("grpc", False, "h:1", "m", "3")
    assert str(Target.parse("https://h:1/m")) == "https://h:1/m"
