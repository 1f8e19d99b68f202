"""Contracts of KServe models, a server of them made of KServe's own messages, and a proxy before it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import grpc
import grpc.aio
import numpy as np
from aiohttp import web
from tritonclient.grpc import service_pb2, service_pb2_grpc

from protocontract.contract import Contract
from protocontract.serving.kserve import Declared, Proxy
from protocontract.serving.kserve.servicer import add_to
from protocontract.serving.kserve.web import application
from protocontract.serving.methods import Level

T = TypeVar("T")

PROTOS: Final = Path(__file__).parent / "protos"
LOOPBACK: Final = "127.0.0.1:0"

#: A model: its inputs and outputs as metadata have them, and what it does with a request.
Ports = Mapping[str, tuple[str, list[int]]]
Behavior = Callable[[Any], Any]


@cache
def contracts() -> dict[str, Contract[Any]]:
    """The contracts of ``protos``, by the last part of their names."""
    from protocontract_compiler.dynamic import load_protos

    found = load_protos([PROTOS], proto_path=PROTOS)
    return {name.rpartition(".")[2]: contract for name, contract in found.items()}


def declared(name: str, request: str, response: str, level: Level | None = None, version: str = "") -> Declared:
    """A model of ``protos``."""
    return Declared(name, contracts()[request], contracts()[response], level or Level(), version)


@dataclass
class ModelServer:
    """A server of KServe v2 that does what its models' functions say, and notes what it was asked."""

    models: dict[str, tuple[Ports, Ports, Behavior]]
    seen: list[Any] = field(default_factory=list)
    metadata: list[dict[str, Any]] = field(default_factory=list)
    ready: bool = True
    #: Called when an inference ends, be it that its caller gives up.
    on_end: Callable[[], None] | None = None
    port: int = 0

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"


class _Servicer(service_pb2_grpc.GRPCInferenceServiceServicer):  # type: ignore[misc]
    def __init__(self, server: ModelServer) -> None:
        self.server = server

    def _model(self, name: str, context: Any) -> tuple[Ports, Ports, Behavior]:
        if name not in self.server.models:
            context.abort(grpc.StatusCode.NOT_FOUND, f"secret: unknown model {name}")
        return self.server.models[name]

    def ServerLive(self, request: Any, context: Any) -> Any:
        return service_pb2.ServerLiveResponse(live=True)

    def ServerReady(self, request: Any, context: Any) -> Any:
        return service_pb2.ServerReadyResponse(ready=self.server.ready)

    def ModelReady(self, request: Any, context: Any) -> Any:
        return service_pb2.ModelReadyResponse(ready=self.server.ready and request.name in self.server.models)

    def ServerMetadata(self, request: Any, context: Any) -> Any:
        return service_pb2.ServerMetadataResponse(name="stand-in", version="1.2.3", extensions=["binary_tensor_data"])

    def ModelMetadata(self, request: Any, context: Any) -> Any:
        inputs, outputs, _ = self._model(request.name, context)
        found = service_pb2.ModelMetadataResponse(name=request.name, versions=["1"], platform="python")
        for ports, into in ((inputs, found.inputs), (outputs, found.outputs)):
            for name, (datatype, shape) in ports.items():
                into.add(name=name, datatype=datatype, shape=shape)
        return found

    def ModelConfig(self, request: Any, context: Any) -> Any:
        self._model(request.name, context)
        found = service_pb2.ModelConfigResponse()
        found.config.name = request.name
        found.config.max_batch_size = 8
        return found

    def ModelInfer(self, request: Any, context: Any) -> Any:
        *_, behavior = self._model(request.model_name, context)
        if self.server.on_end is not None:
            context.add_callback(self.server.on_end)
        self.server.seen.append(request)
        self.server.metadata.append(dict(context.invocation_metadata()))
        found = behavior(request)
        if isinstance(found, grpc.StatusCode):
            context.abort(found, "secret: 0.123")
        return found

    def ModelStreamInfer(self, requests: Iterator[Any], context: Any) -> Iterator[Any]:
        for request in requests:
            *_, behavior = self._model(request.model_name, context)
            self.server.seen.append(request)
            found = behavior(request)
            for each in found if isinstance(found, list) else [found]:
                if isinstance(each, str):
                    yield service_pb2.ModelStreamInferResponse(error_message=each)
                else:
                    yield service_pb2.ModelStreamInferResponse(infer_response=each)


@contextmanager
def served(server: ModelServer, port: int = 0, credentials: Any = None) -> Iterator[ModelServer]:
    """The server, on a free port or the one given; ``credentials`` (gRPC's): by TLS."""
    large = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
    with ThreadPoolExecutor(8) as executor:
        running = grpc.server(executor, options=large)
        service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(_Servicer(server), running)
        address = f"127.0.0.1:{port}"
        server.port = (
            running.add_insecure_port(address) if credentials is None else running.add_secure_port(address, credentials)
        )
        running.start()
        try:
            yield server
        finally:
            running.stop(None).wait()


class Running:
    """A proxy that serves both protocols on a loop of its own thread."""

    def __init__(self, make: Callable[[], Proxy]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.proxy, self._server, self._runner = self.run(self._start(make))

    async def _start(self, make: Callable[[], Proxy]) -> tuple[Proxy, Any, Any]:
        proxy = make()
        server = grpc.aio.server(
            options=[
                ("grpc.max_receive_message_length", proxy.max_request_bytes + 1024 * 1024),
                ("grpc.max_send_message_length", -1),
            ]
        )
        add_to(server, proxy)
        self.grpc = f"127.0.0.1:{server.add_insecure_port(LOOPBACK)}"
        await server.start()
        runner = web.AppRunner(application(proxy), access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.rest = f"127.0.0.1:{runner.addresses[0][1]}"
        return proxy, server, runner

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the proxy's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _stop(self) -> None:
        await self._server.stop(None)
        await self._runner.cleanup()
        await self.proxy.close()

    def close(self) -> None:
        self.run(self._stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(120)
        self._loop.close()


@contextmanager
def proxied(upstream: str, models: Sequence[Declared], **options: Any) -> Iterator[Running]:
    """A proxy before an address."""
    running = Running(lambda: Proxy(upstream, models, **options))
    try:
        yield running
    finally:
        running.close()


class Listening(Protocol):
    """Whatever has a gRPC address."""

    grpc: str


@contextmanager
def stub_of(running: Listening) -> Iterator[Any]:
    """KServe's own client of a proxy, which hides nothing."""
    with grpc.insecure_channel(running.grpc) as channel:
        yield service_pb2_grpc.GRPCInferenceServiceStub(channel)


@contextmanager
def asked(server: ModelServer, models: Sequence[Declared]) -> Iterator[Any]:
    """A server, a proxy before it, and KServe's own client of that."""
    with served(server), proxied(server.address, models) as running, stub_of(running) as stub:
        yield stub


# -- messages


def response_of(name: str, array: Any, *, model: str = "scale", version: str = "1", datatype: str = "FP32") -> Any:
    """A response with one output, raw."""
    found = service_pb2.ModelInferResponse(model_name=model, model_version=version)
    found.outputs.add(name=name, datatype=datatype, shape=list(array.shape))
    found.raw_output_contents.append(np.ascontiguousarray(array).tobytes())
    return found


def array_of(request: Any, at: int = 0, dtype: str = "<f4") -> Any:
    """An input of a request, raw or typed."""
    tensor = request.inputs[at]
    if request.raw_input_contents:
        found = np.frombuffer(request.raw_input_contents[at], dtype)
    else:
        (values,) = (value for _, value in tensor.contents.ListFields())
        found = np.array(values, dtype)
    return found.reshape(tuple(tensor.shape))


def doubled(request: Any) -> Any:
    """What the model ``scale`` does."""
    found = response_of("y", array_of(request) * np.float32(2), model=request.model_name)
    found.id = request.id
    return found


SCALE: Final[tuple[Ports, Ports]] = ({"x": ("FP32", [-1, 4])}, {"y": ("FP32", [-1, 4])})
