"""``InferenceServer``: a contracted service with its models on grpc.aio, from loading to draining.

    server = InferenceServer("acme.inference.v1.ContentTypeService", [ModelSpec("", "1", "content_type.onnx")],
                             steps=["acme_steps:features", "acme_steps:label"])
    await server.start()     # bound at once, SERVING when models are compared and warmed up
    ...
    await server.stop(30)    # NOT_SERVING, then what waits is answered, then the rest is ended

``protocontract serve`` is this in a process, or in several.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from protocontract.chain import EvidenceLog, ValueStore
from protocontract.contract import Contract
from protocontract.loading import load, resolve_service
from protocontract.serving.address import demand_address
from protocontract.serving.beside import Shadows
from protocontract.serving.engines import EngineOptions, ModelSpec, OpenEngine, open_engine
from protocontract.serving.methods import Methods
from protocontract.serving.plan import Plan, plan
from protocontract.serving.service import DEFAULT_DEADLINE, Host, MethodService
from protocontract.serving.versions import Running, Versions, named
from protocontract.serving.watch import Watch
from protocontract.steps import Step, load_step
from protocontract.violations import ContractError

log: Final = logging.getLogger("protocontract.serving")

#: What gRPC's clients take at most, where they say nothing else.
MAX_RESPONSE_BYTES: Final = 4 * 1024 * 1024
#: What gRPC takes above the contract's own limit, so that the contract's refusal is what callers see.
_ROOM: Final = 1024 * 1024
#: What gRPC takes where nothing else is said.
_GRPC_LIMIT: Final = 4 * 1024 * 1024
_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING
#: Threads on which requests are read, prepared and written. More of them wait for Python's global lock.
_THREADS: Final = 2


class InferenceServer:
    """A service on one event loop. Made without one; ``start`` and ``stop`` are coroutines."""

    def __init__(
        self,
        service: str,
        models: Sequence[ModelSpec],
        *,
        steps: Sequence[str | Step] = (),
        listen: str = "127.0.0.1:0",
        options: EngineOptions | None = None,
        evidence: EvidenceLog | None = None,
        recorded: bool | None = None,
        inputs: str | Path | None = None,
        joins: bool = True,
        max_response_bytes: int | None = MAX_RESPONSE_BYTES,
        max_deadline: float = DEFAULT_DEADLINE,
        proto_path: str | Path | None = None,
        descriptors: str | Path | None = None,
        service_descriptor: Any = None,
        contracts: Mapping[str, Contract[Any]] | None = None,
        reuse_port: bool = False,
        threads: int = _THREADS,
        watch: Watch | None = None,
        open_model: OpenEngine = open_engine,
    ) -> None:
        """Plan a service; nothing is loaded yet.

        ``service`` is its full name. It is found in generated modules, in .proto files below ``proto_path``, in
        ``descriptors``, or given as ``service_descriptor`` with its ``contracts``. ``steps`` are ``module:function``.
        ``evidence`` records requests as each RPC declares, and ``inputs`` is a folder that keeps the values of their
        stages; ``recorded`` says that there will be a log, where it is not opened yet. Without ``joins`` each request
        is a batch of its own. ``max_deadline`` (seconds) is for RPCs that declare none. ``watch`` is told of
        requests and models. ``open_model`` starts models. ``threads`` are those of steps.

        Raises ContractError (``refused to start: ...``) with everything that does not go together.
        """
        if service_descriptor is None:
            service_descriptor, compiled = resolve_service(service, proto_path=proto_path, descriptors=descriptors)
            contracts = compiled if contracts is None else contracts
        self._descriptor: Final = service_descriptor
        self._listen: Final = demand_address(listen)
        self._specs: Final = tuple(models)
        pool = service_descriptor.file.pool
        known = contracts or {}

        def find(name: str) -> Contract[Any]:
            return known[name] if name in known else load(name)

        loaded = [each if isinstance(each, Step) else load_step(each) for each in steps]
        self.plan: Final[Plan] = plan(service_descriptor, Methods(known, pool).find, find, loaded)
        self.plan.demand(recorded=evidence is not None if recorded is None else recorded)
        named(self._specs, self.plan)
        self._options: Final = options or EngineOptions()
        self._joins: Final = joins
        self._evidence: Final = evidence
        self._store: Final = None if inputs is None else ValueStore(inputs)
        self._max_response_bytes: Final = max_response_bytes
        self._max_deadline: Final = max_deadline
        self._reuse_port: Final = reuse_port
        self._threads: Final = threads
        self._watch: Final = watch
        self._open_model: Final = open_model
        self._pool: Final = pool
        #: Set by ``start``.
        self.port = 0
        self._server: Any = None
        self._health: Any = None
        self._host: Host | None = None
        self._shadows: Shadows | None = None
        self._changing: asyncio.Lock | None = None

    # -- starting

    async def bind(self) -> None:
        """Listen, and answer that nothing is served yet. Raises OSError where the address cannot be had."""
        host = self._made()
        server = grpc.aio.server(options=self._grpc_options())
        handlers = {
            method.name: grpc.unary_unary_rpc_method_handler(MethodService(method, host).answer)
            for method in self.plan.methods
        }
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(self.plan.service, handlers),))
        # An attribute that the package sets where grpc.aio is there.
        self._health = health.aio.HealthServicer()  # pyright: ignore[reportAttributeAccessIssue]
        await self._set_health(_NOT_SERVING)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
        names = (self.plan.service, health.SERVICE_NAME, reflection.SERVICE_NAME)
        reflection.enable_server_reflection(names, server, pool=self._pool)
        try:
            self.port = server.add_insecure_port(self._listen)
        except RuntimeError:
            self.port = 0
        if not self.port:
            raise OSError(errno.EADDRINUSE, "cannot be listened on", self._listen)
        await server.start()
        self._server = server

    async def start(self, *, late: bool = False) -> None:
        """Listen, load, compare and warm up all models, and serve. ``late``: listen when all else is done.

        Raises ContractError (``refused to start: ...``) with everything that keeps them from it; OSError. Nothing is
        listened on then.
        """
        if self._server is None and not late:
            await self.bind()
        host = self._made()
        try:
            await host.versions.start(self._specs)
            if self._server is None:
                await self.bind()
        except BaseException:
            if self._server is not None:
                await self._server.stop(None)
            host.executor.shutdown(wait=False)
            raise
        host.ready = True
        await self._set_health(_SERVING)

    def _versions(self) -> Versions:
        return Versions(
            self.plan,
            self._options,
            joins=self._joins,
            max_deadline=self._max_deadline,
            on_event=None if self._watch is None else self._watch.event,
            open_model=self._open_model,
        )

    def _made(self) -> Host:
        """What the RPCs share, made on the loop that they run on."""
        if self._host is None:
            self._changing = asyncio.Lock()
            versions = self._versions()
            self._shadows = Shadows(versions)
            self._host = Host(
                versions,
                ThreadPoolExecutor(self._threads, thread_name_prefix="protocontract-steps"),
                evidence=self._evidence,
                store=self._store,
                max_response_bytes=self._max_response_bytes,
                max_deadline=self._max_deadline,
                watch=self._watch,
                after=self._shadows.after,
            )
            if self._watch is not None:
                self._watch.serving(versions, self._shadows)
        return self._host

    async def check(self) -> tuple[Running, ...]:
        """Load, compare and warm up all models, and give them up again. Raises ContractError as ``start``."""
        versions = self._versions()
        await versions.start(self._specs)
        found = versions.running
        await versions.drain(0)
        return found

    @property
    def host(self) -> str:
        """The host that it listens on."""
        return self._listen.rpartition(":")[0]

    @property
    def address(self) -> str:
        """``HOST:PORT``, or the socket's path (``unix:...``)."""
        return self._listen if self._listen.startswith("unix:") else f"{self.host}:{self.port}"

    @property
    def versions(self) -> Versions:
        """The models that are loaded."""
        return self._open.versions

    @property
    def shadows(self) -> Shadows:
        """What was counted of shadows."""
        if self._shadows is None:
            raise ContractError("the server was not started")
        return self._shadows

    @property
    def not_ready(self) -> str | None:
        """Why it does not serve at present; None while it does."""
        if self._host is None or not self._host.ready:
            return "the models are being loaded"
        return "stopping" if self._host.draining else None

    @property
    def ready(self) -> bool:
        """Whether it serves."""
        return self.not_ready is None

    # -- while it serves

    async def change(self, models: Sequence[ModelSpec], grace: float = 30.0) -> list[str]:
        """Serve these versions from now on, without a stop: see ``Versions.change``."""
        assert self._changing is not None
        async with self._changing:
            return await self._open.versions.change(models, grace)

    async def stop(self, grace: float = 30.0) -> int:
        """Stop: NOT_SERVING first; new calls are UNAVAILABLE (DRAINING); those inside get ``grace`` seconds.

        Returns how many requests were ended without an answer.
        """
        host = self._open
        loop = asyncio.get_running_loop()
        until = loop.time() + grace
        await self._set_health(_NOT_SERVING)
        host.draining = True
        # Those that are being prepared are to find a batch; after that all that wait can run at once.
        await host.until(lambda: not host.preparing, grace)
        # Nobody waits for shadows, and they keep nobody.
        self.shadows.close()
        ended = await host.versions.drain(max(0.0, until - loop.time()))
        await host.until(lambda: not host.inside, max(0.0, until - loop.time()) + 1.0)
        self.shadows.close()
        await self._server.stop(0.5)
        host.executor.shutdown(wait=False, cancel_futures=True)
        return ended

    async def wait(self) -> None:
        """Wait until it was stopped."""
        await self._server.wait_for_termination()

    # --

    @property
    def _open(self) -> Host:
        if self._host is None:
            raise ContractError("the server was not started; expected `await server.start()` before")
        return self._host

    async def _set_health(self, status: Any) -> None:
        for name in ("", self.plan.service):
            await self._health.set(name, status)

    def _grpc_options(self) -> list[tuple[str, int]]:
        limits = [method.method.level.max_request_bytes for method in self.plan.methods]
        most = max((limit for limit in limits if limit), default=0)
        return [
            ("grpc.so_reuseport", int(self._reuse_port)),
            ("grpc.max_send_message_length", -1),
            # One limit for all RPCs: those that declare none keep gRPC's own.
            ("grpc.max_receive_message_length", max(2 * most + _ROOM, _GRPC_LIMIT)),
        ]
