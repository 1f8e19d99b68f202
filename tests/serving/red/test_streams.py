"""Streams that never end by themselves: in a handler that waits for nothing, and before a caller that reads slowly."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest

from protocontract.serving import ContractInterceptor, SyncContractInterceptor
from tests.serving.red.support import contracts, message

PATH = "/red.v1.Flood/Run"


class Handlers:
    """Large responses without an end, or until one that breaks its contract."""

    def __init__(self, bad_at: int = 0) -> None:
        self.bad_at = bad_at
        self.ended = threading.Event()

    def _next(self, number: int) -> Any:
        if number == self.bad_at:
            return message("Drop", x=b"\0" * 300_001)
        return message("Drop", x=b"\0" * 200_000)

    async def generator(self, request: Any, context: Any) -> AsyncIterator[Any]:
        number = 0
        try:
            while True:
                number += 1
                yield self._next(number)
        finally:
            self.ended.set()

    async def writer(self, request: Any, context: Any) -> None:
        number = 0
        try:
            while True:
                number += 1
                await context.write(self._next(number))
        finally:
            self.ended.set()

    def plain(self, request: Any, context: Any) -> Iterator[Any]:
        number = 0
        try:
            while True:
                number += 1
                yield self._next(number)
        finally:
            self.ended.set()


STYLES = ("generator", "writer", "plain", "grpc.server")


@asynccontextmanager
async def flooding(style: str, handlers: Handlers) -> AsyncIterator[tuple[Any, Any]]:
    """A call of the stream, and the door of its method."""
    kind = contracts()["Drop"].message_type
    known = {each.full_name: each for each in contracts().values()}
    behavior = getattr(handlers, "plain" if style == "grpc.server" else style)
    handler = grpc.unary_stream_rpc_method_handler(behavior, kind.FromString, kind.SerializeToString)
    generic = grpc.method_handlers_generic_handler("red.v1.Flood", {"Run": handler})
    make: Any = SyncContractInterceptor if style == "grpc.server" else ContractInterceptor
    interceptor = make(known, pool=kind.DESCRIPTOR.file.pool)
    server: Any = (
        grpc.server(ThreadPoolExecutor(2), interceptors=[interceptor])
        if style == "grpc.server"
        else grpc.aio.server(migration_thread_pool=ThreadPoolExecutor(2), interceptors=[interceptor])
    )
    server.add_generic_rpc_handlers((generic,))
    port = server.add_insecure_port("127.0.0.1:0")
    started = server.start()
    if style != "grpc.server":
        await started
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            call = channel.unary_stream(
                PATH, request_serializer=kind.SerializeToString, response_deserializer=kind.FromString
            )(message("Drop"))
            yield call, interceptor._calls.find(PATH).door
    finally:
        stopped = server.stop(None)
        if style == "grpc.server":
            stopped.wait()
        else:
            await stopped


async def read(call: Any) -> tuple[int, grpc.aio.AioRpcError]:
    """How many responses come, and how they end."""
    got = 0
    try:
        while await call.read() is not grpc.aio.EOF:  # pyright: ignore[reportAttributeAccessIssue]  # of its compiled part
            got += 1
    except grpc.aio.AioRpcError as error:
        return got, error
    raise AssertionError("it ended well")


@pytest.mark.parametrize("style", STYLES)
def test_the_longest_deadline_ends_a_stream_that_waits_for_nothing(style: str) -> None:
    async def main() -> None:
        handlers = Handlers()
        async with flooding(style, handlers) as (call, door):
            assert await call.read()
            assert door.queue.inside == 1
            await asyncio.sleep(0.4)  # the deadline of 0.3 s passes while nobody reads
            _, error = await read(call)
            assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
            assert error.details() == "not answered within 0.3 s"
            assert await asyncio.to_thread(handlers.ended.wait, 20)

    asyncio.run(main())


@pytest.mark.parametrize("style", STYLES)
def test_a_handler_whose_response_is_bad_is_ended_at_once(style: str) -> None:
    """What it holds (a cursor, a lock) is given back."""

    async def main() -> None:
        handlers = Handlers(bad_at=3)
        async with flooding(style, handlers) as (call, _):
            got, error = await read(call)
            assert (got, error.code()) == (2, grpc.StatusCode.INTERNAL)
            assert await asyncio.to_thread(handlers.ended.wait, 20)

    asyncio.run(main())


@pytest.mark.parametrize("style", [each for each in STYLES if each != "plain"])
def test_a_caller_that_goes_while_it_is_flooded_gives_its_place_back(style: str) -> None:
    """Not of plain generators under grpc.aio: gRPC itself never goes on with one whose caller has gone."""

    async def main() -> None:
        handlers = Handlers()
        async with flooding(style, handlers) as (call, door):
            assert await call.read()
            call.cancel()
            assert await asyncio.to_thread(handlers.ended.wait, 20)
            for _ in range(2000):
                if not door.queue.inside:
                    break
                await asyncio.sleep(0.005)
            assert door.queue.inside == 0

    asyncio.run(main())
