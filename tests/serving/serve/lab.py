"""Services of the tests with small models: contracts, model files, engines that can be held, servers, calls."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
import numpy as np
import onnx
from google.rpc import error_details_pb2, status_pb2
from onnx import TensorProto, helper, numpy_helper

from protocontract.contract import Contract
from protocontract.models import Model, Ran
from protocontract.serving import EngineOptions, InferenceServer, ModelSpec
from protocontract.serving.engines import open_engine
from protocontract.steps import Step, StepCall

PROTOS: Final = Path(__file__).parent / "protos"
OPTIONS: Final = EngineOptions(threads=1)


@cache
def contracts() -> Mapping[str, Contract[Any]]:
    """The contracts of lab.proto by the last part of their names, compiled on the spot."""
    from protocontract_compiler.dynamic import load_protos

    return {name.rpartition(".")[2]: each for name, each in load_protos([PROTOS], proto_path=PROTOS).items()}


def message(name: str, **fields: Any) -> Any:
    """A message of lab.proto."""
    return contracts()[name].message_type(**fields)


def service(name: str) -> dict[str, Any]:
    """What ``InferenceServer`` is given of a service."""
    pool: Any = contracts()["Rows"].message_type.DESCRIPTOR.file.pool
    known = {each.full_name: each for each in contracts().values()}
    return {
        "service": f"lab.v1.{name}",
        "service_descriptor": pool.FindServiceByName(f"lab.v1.{name}"),
        "contracts": known,
    }


# -- models


def scaled(path: Path, factor: float = 1.0, *, width: int = 4, batched: bool = True, sums: bool = False) -> Path:
    """A model whose output y is its input x times a factor; ``sums``: it adds the rows of a batch up as well."""
    dims: list[Any] = ["N", width]
    nodes = [helper.make_node("Mul", ["x", "factor"], ["y"], name="scale")]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, dims)]
    if sums:
        nodes.append(helper.make_node("ReduceSum", ["x"], ["sums"], name="add", keepdims=1))
        outputs.append(helper.make_tensor_value_info("sums", TensorProto.FLOAT, [1, 1]))
    weights = [numpy_helper.from_array(np.array(factor, "float32"), "factor")]
    return _save(path, nodes, [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)], outputs, weights)


def masked(path: Path) -> Path:
    """ids and mask [N, tokens] to the mean of ids that the mask leaves [N, 1], and ids times 2 [N, tokens]."""
    weights = [numpy_helper.from_array(np.array(2, "float32"), "two"), numpy_helper.from_array(np.array([1]), "axis")]
    nodes = [
        helper.make_node("Cast", ["mask"], ["real"], name="cast", to=TensorProto.FLOAT),
        helper.make_node("Mul", ["ids", "real"], ["kept"], name="keep"),
        helper.make_node("ReduceSum", ["kept", "axis"], ["sum"], name="sum", keepdims=1),
        helper.make_node("ReduceSum", ["real", "axis"], ["count"], name="count", keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"], name="mean"),
        helper.make_node("Mul", ["ids", "two"], ["doubled"], name="double"),
    ]
    dims: list[Any] = ["N", "T"]
    inputs = [
        helper.make_tensor_value_info("ids", TensorProto.FLOAT, dims),
        helper.make_tensor_value_info("mask", TensorProto.INT64, dims),
    ]
    outputs = [
        helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["N", 1]),
        helper.make_tensor_value_info("doubled", TensorProto.FLOAT, dims),
    ]
    return _save(path, nodes, inputs, outputs, weights)


def moods(path: Path, labels: Sequence[str] = ("calm", "glad", "sad")) -> Path:
    """counts [N, 4] to scores [N, 3]: the first three counts, and its labels."""
    weights = [numpy_helper.from_array(np.eye(4, 3, dtype="float32"), "weights")]
    nodes = [helper.make_node("MatMul", ["counts", "weights"], ["scores"], name="product")]
    return _save(
        path,
        nodes,
        [helper.make_tensor_value_info("counts", TensorProto.FLOAT, ["N", 4])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", 3])],
        weights,
        {"labels": ",".join(labels)} if labels else {},
    )


def _save(path: Path, nodes: Any, inputs: Any, outputs: Any, weights: Any, metadata: Any = None) -> Path:
    graph = helper.make_graph(nodes, "lab", inputs, outputs, weights)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    helper.set_model_props(made, dict(metadata or {}))
    onnx.save(made, str(path))
    return path


class Held:
    """An engine that can be held before it runs, and whose outputs can be changed."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.name = model.name
        self.signature = model.signature
        self.identity = model.identity
        self.provider = model.provider
        self.go = threading.Event()
        self.go.set()
        #: Set when a run has begun since it was cleared.
        self.begun = threading.Event()
        self.change: Callable[[dict[str, Any]], dict[str, Any]] = dict
        self.batches: list[dict[str, Any]] = []
        self.closed = False

    def run(self, inputs: Mapping[str, Any], outputs: Sequence[str] | None = None) -> Ran:
        """Run it, when it may go."""
        self.begun.set()
        assert self.go.wait(120)
        self.batches.append({name: array.copy() for name, array in inputs.items()})
        ran = self._model.run(inputs, outputs)
        return Ran(self.change(ran.outputs), ran.provider, ran.facts)

    def close(self) -> None:
        """It was given up."""
        self.closed = True
        self._model.close()


class Engines:
    """Opens held engines and remembers them by ``NAME@VERSION``."""

    def __init__(self) -> None:
        self.by_spec: dict[str, Held] = {}
        #: Told before a model is opened, on the thread that opens it.
        self.opening: Callable[[ModelSpec], None] = lambda spec: None

    def __call__(self, spec: ModelSpec, way: Any, options: EngineOptions, on_event: Any = None) -> Any:
        """Start a model."""
        self.opening(spec)
        model: Any = open_engine(spec, way, options, on_event)
        held = self.by_spec[str(spec)] = Held(model)
        return held

    @property
    def only(self) -> Held:
        """The one that was opened."""
        (found,) = self.by_spec.values()
        return found


# -- steps


def steps(*, failing: bool = False, call: bool = False, wrong: bool = False) -> list[Step]:
    """The steps of Moods. ``failing``: the first one raises on texts with a question mark, quoting them; ``wrong``: it
    makes a message that breaks its contract; ``call``: the second one takes what it is called for, and notes it."""

    def count(saying: Any) -> Any:
        text = saying.text
        if failing and "?" in text:
            raise ValueError(text)
        found = np.array([[text.count("."), text.count("!"), text.count("…"), len(text)]], dtype="<f4")
        return message("Features", counts=(found * (1000 if wrong else 1)).tobytes())

    def tell(scores: Any) -> Any:
        best = int(np.frombuffer(scores.scores, "<f4").argmax())
        return message("Mood", feeling=best + 1)

    def tell_for(scores: Any, call: StepCall) -> Any:
        CALLS.append(call)
        made = tell(scores)
        made.request_id = call.request.request_id
        return made

    kinds = {name: contracts()[name].message_type for name in ("Saying", "Features", "Scores", "Mood")}
    count.__annotations__ = {"saying": kinds["Saying"], "return": kinds["Features"]}
    for each in (tell, tell_for):
        each.__annotations__ |= {"scores": kinds["Scores"], "return": kinds["Mood"]}
    tell_for.__annotations__["call"] = StepCall
    return [Step("lab:count", "3", count), Step("lab:tell", "1", tell_for if call else tell)]


#: What steps were told.
CALLS: Final[list[StepCall]] = []

# -- servers and calls


@asynccontextmanager
async def serving(
    name: str, models: Sequence[ModelSpec], **options: Any
) -> AsyncIterator[tuple[InferenceServer, Caller]]:
    """A server of a service, and what calls it. It is stopped at the end, if it is not yet."""
    server = InferenceServer(**service(name), models=models, **{"options": OPTIONS, **options})
    await server.start()
    try:
        async with grpc.aio.insecure_channel(server.address) as channel:
            yield server, Caller(channel)
    finally:
        await server.stop(0)


class Caller:
    """Makes calls of the services of lab.proto."""

    _REPLIES: Final = {"Rows": "Same", "Saying": "Mood", "Choice": "Chosen", "Tokens": "Reading"}
    _PATHS: Final = {
        "Rows": "/lab.v1.Echo/Run",
        "Saying": "/lab.v1.Moods/Tell",
        "Choice": "/lab.v1.Two/Choose",
        "Tokens": "/lab.v1.Lengths/Read",
    }

    def __init__(self, channel: grpc.aio.Channel) -> None:
        self.channel = channel

    def __call__(self, request: Any, *, path: str = "", timeout: float | None = 120) -> Any:
        """A call, to be awaited: the response, or an AioRpcError."""
        name = request.DESCRIPTOR.name
        method = self.channel.unary_unary(
            path or self._PATHS[name],
            request_serializer=lambda sent: sent.SerializeToString(),
            response_deserializer=contracts()[self._REPLIES[name]].message_type.FromString,
        )
        return method(request, timeout=timeout)


def rows(*numbers: float, width: int = 4, **fields: Any) -> Any:
    """A request of Echo: a row for each number, which is in each of its elements."""
    return message("Rows", x=np.repeat(np.array(numbers, "<f4"), width).tobytes(), **fields)


def numbers(response: Any, width: int = 4) -> list[float]:
    """The first element of each row of a response of Echo."""
    found: list[float] = np.frombuffer(response.y, "<f4").reshape(-1, width)[:, 0].tolist()
    return found


async def refusal(call: Any) -> tuple[str, str, dict[str, str], str]:
    """How a call failed: its code, reason, the metadata of its ErrorInfo, and its text."""
    try:
        await call
    except grpc.aio.AioRpcError as error:
        metadata = dict(error.trailing_metadata() or ())
        info = error_details_pb2.ErrorInfo()
        found = status_pb2.Status.FromString(metadata.get("grpc-status-details-bin", b""))
        for detail in found.details:
            detail.Unpack(info)
        return error.code().name, info.reason, dict(info.metadata), error.details() or ""
    raise AssertionError("the call was answered")


async def trailers(call: Any) -> dict[str, str]:
    """The trailing metadata of a call that is answered."""
    await call
    return {key: value for key, value in await call.trailing_metadata() if key.startswith("protocontract-")}
