"""The interceptor for ``grpc.aio.server``: all four kinds of RPC, handlers of every style.

gRPC looks at a handler to know its style: a coroutine, an asynchronous generator, or a plain function, which it runs on
its executor. What is put in a handler's place must be of the same style, hence so many small functions. Bytes reach
these functions undecoded: a deserializer that fails could only be INTERNAL.

Handlers also read and write through their context (``await context.read()``), so the context is wrapped.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, NoReturn, TypeVar

import grpc
import grpc.aio

from protocontract.contract import Contract
from protocontract.serving.call import Call, Calls, out_of_time, remaining
from protocontract.serving.door import Place
from protocontract.serving.interceptor_sync import behavior_of, handler_like, sync_handler
from protocontract.serving.rejection import Rejected

T = TypeVar("T")


class ContractInterceptor(grpc.aio.ServerInterceptor):  # type: ignore[misc]  # an untyped base class
    """Checks requests and responses of contracted services: ``grpc.aio.server(interceptors=[ContractInterceptor()])``.

    Handlers get normalised, valid messages. A bad request is INVALID_ARGUMENT, a bad response INTERNAL, both with
    google.rpc.BadRequest and ErrorInfo; services without a contract pass, health checks and reflection among them.
    """

    def __init__(
        self,
        contracts: Mapping[str, Contract[Any]] | None = None,
        *,
        pool: Any = None,
        max_response_bytes: int | None = None,
    ) -> None:
        """``contracts`` by full message name come before generated ones; ``pool`` knows the services.

        A response of more than ``max_response_bytes`` is RESOURCE_EXHAUSTED; None: it is not looked at.
        """
        self._calls = Calls(contracts, pool, max_response_bytes)

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The handler of an RPC, with its checks around it."""
        handler = await continuation(handler_call_details)
        call = self._calls.find(handler_call_details.method)
        return handler if handler is None or call is None else _checked(call, handler, call.door.queue.arrive())


def _checked(call: Call, handler: Any, place: Place) -> Any:
    """The handler of one call, which has ``place``."""
    behavior = behavior_of(handler)
    checked = _Checked(call, handler, place)
    if inspect.isasyncgenfunction(behavior):
        return handler_like(handler, checked.stream)
    if inspect.iscoroutinefunction(behavior):
        return handler_like(handler, checked.write if handler.response_streaming else checked.unary)
    return sync_handler(call, handler, place) if place.taken else handler_like(handler, checked.refuse)


class _Checked:
    """A handler with the checks of one call around it: a function for each style, of which the call has one."""

    def __init__(self, call: Call, handler: Any, place: Place) -> None:
        self._call = call
        self._behavior = behavior_of(handler)
        self._streaming: bool = handler.request_streaming
        self._deserialize, self._serialize = handler.request_deserializer, handler.response_serializer
        self._place = place

    def _enter(self, incoming: Any, context: Any) -> tuple[Any, _Context]:
        """The request, or the stream of them, and the handler's context. Raises Rejected."""
        self._call.door.enter(None if self._streaming else len(incoming), remaining(context), self._place)
        mine = _Context(self._call, context, self._deserialize, self._serialize)
        if self._streaming:
            return mine.requests(incoming), mine
        return self._call.request.read(incoming, self._deserialize, None), mine

    async def refuse(self, incoming: Any, context: Any) -> None:
        """For a plain function without a place. Here and now: on the executor it would wait behind those that have."""
        try:
            self._enter(incoming, context)
        except Rejected as rejected:
            await abort(context, rejected)

    async def unary(self, incoming: Any, context: Any) -> bytes:
        """For a coroutine that gives one response."""
        with self._place:
            try:
                request, mine = self._enter(incoming, context)
                response = await _before(_until(self._call, context), self._behavior(request, mine), self._call)
                return self._call.outgoing(response, self._serialize, None)
            except Rejected as rejected:
                await abort(context, rejected)

    async def write(self, incoming: Any, context: Any) -> None:
        """For a coroutine that writes its responses through the context."""
        with self._place:
            try:
                request, mine = self._enter(incoming, context)
                await _before(_until(self._call, context), self._behavior(request, mine), self._call)
            except Rejected as rejected:
                await abort(context, rejected)

    async def stream(self, incoming: Any, context: Any) -> AsyncIterator[bytes]:
        """For an asynchronous generator."""
        with self._place:
            try:
                request, mine = self._enter(incoming, context)
                until, began = _until(self._call, context), asyncio.get_running_loop().time()
                async with aclosing(self._behavior(request, mine)) as responses:
                    while True:
                        # One that waits for nothing is never interrupted.
                        _demand_time(until, began, self._call)
                        try:
                            response = await _before(until, anext(responses), self._call)
                        except StopAsyncIteration:
                            return
                        yield mine.outgoing(response)
            except Rejected as rejected:
                await abort(context, rejected)


class _Context:
    """A handler's context: what it reads and writes is checked, all else is gRPC's."""

    def __init__(self, call: Call, context: Any, deserialize: Any, serialize: Any) -> None:
        self._call = call
        self._context = context
        self._deserialize = deserialize
        self._serialize = serialize
        self._read = self._written = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def incoming(self, raw: bytes) -> Any:
        index, self._read = self._read, self._read + 1
        self._call.door.measure(len(raw), index)
        return self._call.request.read(raw, self._deserialize, index)

    def outgoing(self, message: Any) -> bytes:
        index, self._written = self._written, self._written + 1
        return self._call.outgoing(message, self._serialize, index)

    async def requests(self, incoming: AsyncIterator[bytes]) -> AsyncIterator[Any]:
        async for raw in incoming:
            try:
                message = self.incoming(raw)
            except Rejected as rejected:
                await abort(self._context, rejected)
            yield message

    async def read(self) -> Any:
        raw = await self._context.read()
        if raw is grpc.aio.EOF:  # pyright: ignore[reportAttributeAccessIssue]  # of its compiled part
            return raw
        try:
            return self.incoming(raw)
        except Rejected as rejected:
            await abort(self._context, rejected)

    async def write(self, message: Any) -> None:
        try:
            raw = self.outgoing(message)
        except Rejected as rejected:
            await abort(self._context, rejected)
        await self._context.write(raw)


def _until(call: Call, context: Any) -> float | None:
    """When the call must be answered, by the loop's clock; None where nobody says.

    Where the caller's own deadline is the nearest, gRPC ends the call by itself.
    """
    left = remaining(context)
    seconds = call.timeout(left)
    if seconds is None or seconds == left:
        return None
    return asyncio.get_running_loop().time() + seconds


def _demand_time(until: float | None, began: float, call: Call) -> None:
    """Raises Rejected where the time of a call that ``began`` then is over."""
    if until is not None and asyncio.get_running_loop().time() >= until:
        raise out_of_time(call, until - began)


async def _before(until: float | None, work: Awaitable[T], call: Call) -> T:
    if until is None:
        return await work
    loop = asyncio.get_running_loop()
    started = loop.time()
    scope = asyncio.timeout_at(until)
    try:
        async with scope:
            return await work
    except TimeoutError:
        if not scope.expired():
            raise  # the handler's own
        raise out_of_time(call, until - started) from None


async def abort(context: Any, rejected: Rejected) -> NoReturn:
    """End a call with a status, behind the trailing metadata that the context has already.

    Where the call is over already (its caller is gone, its deadline past), gRPC cannot send it: the call ends as one
    that was cancelled, which it is, and not as an error of the service in its log.
    """
    try:
        await context.abort(
            getattr(grpc.StatusCode, rejected.code),
            rejected.status.message,
            (*(context.trailing_metadata() or ()), *rejected.metadata()),
        )
    except grpc.aio.InternalError:
        raise asyncio.CancelledError from None
    raise AssertionError("abort returned")
