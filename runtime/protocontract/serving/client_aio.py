"""Interceptors for clients of ``grpc.aio``: a deadline for each call, requests checked before they are sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Mapping, Sequence
from typing import Any

import grpc.aio

from protocontract.contract import Contract
from protocontract.serving.client_call import ClientCall, ClientCalls, Wrapped


def client_interceptors(
    contracts: Mapping[str, Contract[Any]] | None = None, *, pool: Any = None, check_responses: bool = False
) -> Sequence[grpc.aio.ClientInterceptor]:
    """The interceptors of a channel: ``grpc.aio.insecure_channel(target, interceptors=client_interceptors())``.

    Calls get the deadline of their service level, requests are normalised and checked before they are sent
    (ContractViolation, and nothing is sent), and with ``check_responses`` responses when they come
    (ResponseViolation). A stream ends at its first bad message. ``contracts`` by full message name come before
    generated ones; ``pool`` knows the services. gRPC wants one interceptor for each kind of RPC, so these are four.
    """
    calls = ClientCalls(contracts, pool, check_responses=check_responses)
    return (_UnaryUnary(calls), _UnaryStream(calls), _StreamUnary(calls), _StreamStream(calls))


class _Interceptor:
    """What all four do."""

    def __init__(self, calls: ClientCalls) -> None:
        self._calls = calls

    async def _made(
        self, continuation: Callable[..., Any], details: Any, sent: Any, *, stream: bool = False
    ) -> tuple[ClientCall | None, Any]:
        """The call, and what is done with it; None where it passes."""
        mine = self._calls.find(details)
        if mine is None:
            return None, await continuation(details, sent)
        checked = _requests(mine, sent) if stream else mine.request(sent)
        return mine, await continuation(mine.details(details), checked)


class _UnaryUnary(_Interceptor, grpc.aio.UnaryUnaryClientInterceptor):  # type: ignore[misc]  # an untyped base class
    async def intercept_unary_unary(
        self, continuation: Callable[..., Any], client_call_details: Any, request: Any
    ) -> Any:
        mine, call = await self._made(continuation, client_call_details, request)
        if mine is not None and mine.checks:
            mine.response(await call)
        return call


class _UnaryStream(_Interceptor, grpc.aio.UnaryStreamClientInterceptor):  # type: ignore[misc]
    async def intercept_unary_stream(
        self, continuation: Callable[..., Any], client_call_details: Any, request: Any
    ) -> Any:
        mine, call = await self._made(continuation, client_call_details, request)
        return call if mine is None or not mine.checks else _responses(mine, call)


class _StreamUnary(_Interceptor, grpc.aio.StreamUnaryClientInterceptor):  # type: ignore[misc]
    async def intercept_stream_unary(
        self, continuation: Callable[..., Any], client_call_details: Any, request_iterator: Any
    ) -> Any:
        mine, call = await self._made(continuation, client_call_details, request_iterator, stream=True)
        return call if mine is None else _Answer(mine, call)


class _StreamStream(_Interceptor, grpc.aio.StreamStreamClientInterceptor):  # type: ignore[misc]
    async def intercept_stream_stream(
        self, continuation: Callable[..., Any], client_call_details: Any, request_iterator: Any
    ) -> Any:
        mine, call = await self._made(continuation, client_call_details, request_iterator, stream=True)
        return call if mine is None else _responses(mine, call)


class _Answer(Wrapped):
    """A call with one response. Where its requests were bad, gRPC says that it was cancelled; this says why."""

    def __await__(self) -> Generator[Any, Any, Any]:
        try:
            response = yield from self._call.__await__()
        except (asyncio.CancelledError, grpc.aio.AioRpcError):
            if self._mine.broken is None:
                raise
            raise self._mine.broken from None
        self._mine.response(response)
        return response


async def _requests(mine: ClientCall, messages: Any) -> AsyncIterator[Any]:
    index = 0
    if isinstance(messages, AsyncIterable):
        async for message in messages:
            yield mine.request(message, index)
            index += 1
        return
    for message in messages:
        yield mine.request(message, index)
        index += 1


async def _responses(mine: ClientCall, call: Any) -> AsyncIterator[Any]:
    index = 0
    try:
        async for response in call:
            try:
                mine.response(response, index)
            except BaseException:
                call.cancel()
                raise
            index += 1
            yield response
    except (asyncio.CancelledError, grpc.aio.AioRpcError):
        if mine.broken is None:
            raise
        raise mine.broken from None
