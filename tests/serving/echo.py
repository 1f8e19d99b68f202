"""The service of tests: handlers of every style, a server of each kind, and calls of each kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

import grpc
import grpc.aio
from google.rpc import error_details_pb2, status_pb2

from protocontract.contract import Contract
from protocontract.serving import ContractInterceptor, SyncContractInterceptor

PROTOS: Final = Path(__file__).parent / "protos"
SERVICE: Final = "echo.v1.Echo"
KINDS: Final = ("Unary", "Server", "Client", "Both")


@cache
def contracts() -> dict[str, Contract[Any]]:
    """The contracts of the service's messages, compiled on the spot."""
    from protocontract_compiler.dynamic import load_protos

    return dict(load_protos([PROTOS], proto_path=PROTOS))


def pool() -> Any:
    """The descriptor pool that knows the services."""
    return next(iter(contracts().values())).message_type.DESCRIPTOR.file.pool


def ask(text: str = " hello ", reply: str = " fine ", **more: Any) -> Any:
    """A request: what is said, and what the handler is to answer."""
    return contracts()["echo.v1.Ask"].message_type(text=text, reply=reply, **more)


def answer(text: str) -> Any:
    """A response."""
    return contracts()["echo.v1.Answer"].message_type(text=text)


class Seen:
    """What handlers got."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def reply(self, request: Any) -> Any:
        """Note a request, and answer as it says."""
        self.texts.append(request.text)
        return answer(request.reply)


def sync_handlers(seen: Seen) -> dict[str, Any]:
    """Plain functions; also for an asyncio server, which runs them on its executor."""

    def unary(request: Any, context: Any) -> Any:
        return seen.reply(request)

    def server(request: Any, context: Any) -> Iterator[Any]:
        yield answer("first")
        yield seen.reply(request)

    def client(requests: Iterator[Any], context: Any) -> Any:
        return [seen.reply(request) for request in requests][-1]

    def both(requests: Iterator[Any], context: Any) -> Iterator[Any]:
        for request in requests:
            yield seen.reply(request)

    return {"Unary": unary, "Server": server, "Client": client, "Both": both, "Small": unary}


def iterator_handlers(seen: Seen) -> dict[str, Any]:
    """Coroutines and asynchronous generators."""

    async def unary(request: Any, context: Any) -> Any:
        return seen.reply(request)

    async def server(request: Any, context: Any) -> AsyncIterator[Any]:
        yield answer("first")
        yield seen.reply(request)

    async def client(requests: AsyncIterator[Any], context: Any) -> Any:
        return [seen.reply(request) async for request in requests][-1]

    async def both(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        async for request in requests:
            yield seen.reply(request)

    async def slow(request: Any, context: Any) -> Any:
        await asyncio.sleep(30)
        return seen.reply(request)

    return {"Unary": unary, "Server": server, "Client": client, "Both": both, "Slow": slow, "Small": unary}


def context_handlers(seen: Seen) -> dict[str, Any]:
    """Coroutines that read and write through their context."""

    async def server(request: Any, context: Any) -> None:
        await context.write(answer("first"))
        await context.write(seen.reply(request))

    async def client(requests: Any, context: Any) -> Any:
        last = None
        while (request := await context.read()) is not grpc.aio.EOF:
            last = seen.reply(request)
        return last

    async def both(requests: Any, context: Any) -> None:
        while (request := await context.read()) is not grpc.aio.EOF:
            await context.write(seen.reply(request))

    return {**iterator_handlers(seen), "Server": server, "Client": client, "Both": both}


STYLES: Final = {
    "grpc.server": sync_handlers,
    "aio, plain functions": sync_handlers,
    "aio, iterators": iterator_handlers,
    "aio, read and write": context_handlers,
}


def generic(handlers: dict[str, Any], service: str) -> Any:
    """The handlers of a service, by the names of its RPCs."""
    made = {}
    for name, behavior in handlers.items():
        streams = ("stream" if name in ("Client", "Both") else "unary") + "_"
        streams += "stream" if name in ("Server", "Both") else "unary"
        make = getattr(grpc, f"{streams}_rpc_method_handler")
        made[name] = make(
            behavior,
            request_deserializer=contracts()["echo.v1.Ask"].message_type.FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )
    return grpc.method_handlers_generic_handler(service, made)


#: gRPC itself cancels a call that it could not hand over for 30 s, and some tests make hundreds at once.
_OPTIONS: Final = (("grpc.server_max_unrequested_time_in_server", 600),)


@asynccontextmanager
async def serving(
    style: str,
    seen: Seen,
    handlers: Callable[[Seen], dict[str, Any]] | None = None,
    *,
    service: str = SERVICE,
    options: dict[str, Any] | None = None,
    made: list[Any] | None = None,
) -> AsyncIterator[grpc.aio.Channel]:
    """A server of a style behind the interceptor, with its own handlers or others, and a channel to it.

    ``options`` are the interceptor's, which is put into ``made``.
    """
    handler = generic((handlers or STYLES[style])(seen), service)
    known = {"pool": pool(), **(options or {})}
    interceptor: Any = (SyncContractInterceptor if style == "grpc.server" else ContractInterceptor)(
        contracts(), **known
    )
    if made is not None:
        made.append(interceptor)
    if style == "grpc.server":
        sync = grpc.server(ThreadPoolExecutor(4), interceptors=[interceptor], options=_OPTIONS)
        sync.add_generic_rpc_handlers((handler,))
        port = sync.add_insecure_port("127.0.0.1:0")
        sync.start()
        try:
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                yield channel
        finally:
            sync.stop(None).wait()
        return
    server = grpc.aio.server(ThreadPoolExecutor(4), interceptors=[interceptor], options=_OPTIONS)
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        await server.stop(None)


async def call(
    channel: grpc.aio.Channel, kind: str, requests: list[Any], timeout: float | None = 120, service: str = SERVICE
) -> list[str]:
    """Make a call. Returns the texts of the responses; raises AioRpcError."""
    got: list[str] = []
    await call_into(got, channel, kind, requests, timeout, service)
    return got


async def call_into(
    got: list[str],
    channel: grpc.aio.Channel,
    kind: str,
    requests: list[Any],
    timeout: float | None = 120,
    service: str = SERVICE,
) -> None:
    """As ``call``; the texts go to ``got`` as they come, also before an error."""
    path = f"/{service}/{kind}"
    options: dict[str, Any] = {
        "request_serializer": lambda message: message if isinstance(message, bytes) else message.SerializeToString(),
        "response_deserializer": contracts()["echo.v1.Answer"].message_type.FromString,
    }
    if kind == "Server":
        async for response in channel.unary_stream(path, **options)(requests[0], timeout=timeout):
            got += [response.text]
    elif kind == "Client":
        got.append((await channel.stream_unary(path, **options)(_sent(requests), timeout=timeout)).text)
    elif kind == "Both":
        async for response in channel.stream_stream(path, **options)(_sent(requests), timeout=timeout):
            got += [response.text]
    else:
        got.append((await channel.unary_unary(path, **options)(requests[0], timeout=timeout)).text)


async def _sent(requests: list[Any]) -> AsyncIterator[Any]:
    """The requests, and after a None nothing more, with the stream left open: the server ends the call by itself.

    A client that goes on sending into a call that has ended would sometimes see an error of its own instead.
    """
    for request in requests:
        if request is None:
            await asyncio.Event().wait()
        yield request


def status(error: grpc.aio.AioRpcError) -> tuple[status_pb2.Status, Any, Any, dict[str, str | bytes]]:
    """The status of a failed call with its ErrorInfo and BadRequest (None without one), and the trailing metadata."""
    metadata = dict(error.trailing_metadata() or ())
    found = status_pb2.Status.FromString(metadata["grpc-status-details-bin"])
    info, bad = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    has = [(detail.Unpack(info), detail.Unpack(bad)) for detail in found.details]
    return found, info, bad if any(second for _, second in has) else None, metadata
