"""``ModelStreamInfer`` through the proxy: models that answer a request once, often, or never."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import numpy as np
import pytest
from tritonclient.grpc import service_pb2

from tests.serving.kserve.support import SCALE, ModelServer, array_of, declared, doubled, proxied, served, stub_of


def _count(request: Any) -> list[Any]:
    """As many answers as the first number says, and Triton's word that there are no more."""
    found = [doubled(request) for _ in range(int(array_of(request)[0, 0]))]
    end = service_pb2.ModelInferResponse(model_name=request.model_name, id=request.id)
    end.parameters["triton_final_response"].bool_param = True
    return [*found, end]


def _worse(request: Any) -> list[Any]:
    good, bad = doubled(request), doubled(request)
    bad.raw_output_contents[0] = np.full((1, 4), np.inf, "<f4").tobytes()
    return [good, bad]


def _rows(request: Any) -> list[Any]:
    found = doubled(request)
    found.outputs[0].shape[0] = 2
    found.raw_output_contents[0] = found.raw_output_contents[0] * 2
    return [found]


def _stranger(request: Any) -> list[Any]:
    found = doubled(request)
    found.model_name = "other"
    return [found]


@pytest.fixture(scope="module")
def stub() -> Iterator[Any]:
    behaviors = {
        "count": _count, "worse": _worse, "rows": _rows, "stranger": _stranger,
        "fails": lambda request: ["secret: 0.5", doubled(request)],
    }  # fmt: skip
    models = {name: (*SCALE, behavior) for name, behavior in behaviors.items()}
    declarations = [declared(name, "ScaleIn", "ScaleOut") for name in models]
    with (
        served(ModelServer(models)) as server,
        proxied(server.address, declarations) as running,
        stub_of(running) as found,
    ):
        yield found


def asks(model: str, *firsts: float, ids: bool = True) -> Iterator[Any]:
    for at, first in enumerate(firsts):
        found = service_pb2.ModelInferRequest(model_name=model, id=str(at) if ids else "")
        found.inputs.add(name="x", datatype="FP32", shape=[1, 4])
        found.raw_input_contents.append(np.array([[first, 1, 1, 1]], "<f4").tobytes())
        yield found


def ended(call: Any) -> tuple[list[Any], Any, str]:
    """The responses of a call, its code, and its text."""
    found: list[Any] = []
    with pytest.raises(grpc.RpcError):
        found.extend(call)
    return found, call.code(), call.details()


@pytest.mark.parametrize("ids", [True, False])
def test_any_number_of_answers(stub: Any, ids: bool) -> None:
    found = list(stub.ModelStreamInfer(asks("count", 2, 0, 1, ids=ids)))
    assert [len(each.infer_response.outputs) for each in found] == [1, 1, 0, 0, 1, 0]
    assert [each.infer_response.id for each in found] == (["0", "0", "0", "1", "2", "2"] if ids else [""] * 6)


def test_the_first_bad_request_ends_it_and_is_named(stub: Any) -> None:
    _, code, text = ended(stub.ModelStreamInfer(asks("count", 1, 101, 1)))
    assert code is grpc.StatusCode.INVALID_ARGUMENT
    assert text.startswith("request 1 of the stream: the request breaks its contract: kserve.v1.ScaleIn x[0]")


def test_the_first_bad_response_ends_it_and_is_named(stub: Any) -> None:
    found, code, text = ended(stub.ModelStreamInfer(asks("worse", 1)))
    assert len(found) == 1
    assert code is grpc.StatusCode.INTERNAL
    assert text.startswith("response 1 of the stream: the response breaks its contract: kserve.v1.ScaleOut y[0]")


def test_rows_are_compared_where_ids_say_of_which_request(stub: Any) -> None:
    _, code, text = ended(stub.ModelStreamInfer(asks("rows", 1)))
    assert (code, text) == (
        grpc.StatusCode.INTERNAL,
        "response 0 of the stream: the model answered with 2 rows; expected 1",
    )
    assert len(list(stub.ModelStreamInfer(asks("rows", 1, ids=False)))) == 1


def test_a_response_that_nobody_asked_for(stub: Any) -> None:
    # With an id it is held to the contract of the request that has it, whatever it says of its model.
    assert len(list(stub.ModelStreamInfer(asks("stranger", 1)))) == 1
    _, code, text = ended(stub.ModelStreamInfer(asks("stranger", 1, ids=False)))
    assert code is grpc.StatusCode.INTERNAL
    assert "a model that nobody asked" in text


def test_a_long_stream_is_forgotten_from_its_beginning(stub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("protocontract.serving.kserve.servicer._MOST_IDS", 2)
    assert len(list(stub.ModelStreamInfer(asks("count", *[1] * 50)))) == 100


def test_errors_of_the_server_without_its_words(stub: Any) -> None:
    first, second = stub.ModelStreamInfer(asks("fails", 1))
    assert (first.error_message, second.infer_response.id) == ("the model server failed", "0")


def test_a_server_that_is_not_there() -> None:
    with proxied("127.0.0.1:9", [declared("scale", "ScaleIn", "ScaleOut")]) as running, stub_of(running) as stub:
        _, code, _ = ended(stub.ModelStreamInfer(asks("scale", 1)))
    assert code is grpc.StatusCode.UNAVAILABLE


def test_a_mistake_of_ours_does_not_tell_the_data(stub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise KeyError("secret")

    for place in ("Served.read", "Served.answer"):
        with monkeypatch.context() as patch:
            patch.setattr(f"protocontract.serving.kserve.models.{place}", fail)
            _, code, text = ended(stub.ModelStreamInfer(asks("count", 1)))
            assert (code, text) == (grpc.StatusCode.INTERNAL, "the service failed (KeyError)")
