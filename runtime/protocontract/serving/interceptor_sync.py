"""The interceptor for ``grpc.server``, and the checks around plain functions under ``grpc.aio`` too.

Nothing can stop a plain function that takes too long: the caller has its answer at its deadline, the function goes on.
A stream of responses ends behind its deadline with the next one.

A call ends by its code and a return, never by ``context.abort``: under ``grpc.aio`` the loop may still be sending what
a generator yielded before, and gRPC takes no second operation beside it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc

from protocontract.contract import Contract
from protocontract.serving.call import Call, Calls, out_of_time, remaining
from protocontract.serving.door import Place
from protocontract.serving.rejection import Rejected


class SyncContractInterceptor(grpc.ServerInterceptor):  # type: ignore[misc]  # an untyped base class
    """As ``ContractInterceptor``, for ``grpc.server(executor, interceptors=[SyncContractInterceptor()])``."""

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
        # Whoever finds no place is told so at once, and not when a thread of the server is free. Several, as one waits
        # for a message that is slow to come.
        self._refusing = ThreadPoolExecutor(4, "protocontract-refusing")

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """The handler of an RPC, with its checks around it."""
        handler = continuation(handler_call_details)
        call = self._calls.find(handler_call_details.method)
        if handler is None or call is None:
            return handler
        place = call.door.queue.arrive()
        found = sync_handler(call, handler, place)
        if not place.taken:
            behavior_of(found).experimental_thread_pool = self._refusing
        return found


def sync_handler(call: Call, handler: Any, place: Place) -> Any:
    """A handler of plain functions with the checks of ``call`` around it, for one call, which has ``place``."""
    behavior = behavior_of(handler)
    deserialize, serialize = handler.request_deserializer, handler.response_serializer

    def requests(incoming: Iterator[bytes]) -> Iterator[Any]:
        for index, raw in enumerate(incoming):
            call.door.measure(len(raw), index)
            # A bad one goes up through the handler; a handler that goes on all the same gets no more of them.
            yield call.request.read(raw, deserialize, index)

    def enter(incoming: Any, context: Any) -> Any:
        if handler.request_streaming:
            call.door.enter(None, remaining(context), place)
            return _Requests(requests(incoming))
        call.door.enter(len(incoming), remaining(context), place)
        return call.request.read(incoming, deserialize, None)

    if handler.response_streaming:

        def stream(incoming: Any, context: Any) -> Iterator[bytes]:
            with place:
                try:
                    request = enter(incoming, context)
                    seconds = call.timeout(remaining(context))
                    until = None if seconds is None else time.monotonic() + seconds
                    for index, response in enumerate(behavior(request, context)):
                        _demand_kept(request)
                        if seconds is not None and until is not None and time.monotonic() >= until:
                            raise out_of_time(call, seconds)
                        yield call.outgoing(response, serialize, index)
                    _demand_kept(request)
                except Rejected as rejected:
                    _end(context, rejected)

        return handler_like(handler, stream)

    def unary(incoming: Any, context: Any) -> bytes:
        with place:
            try:
                request = enter(incoming, context)
                response = behavior(request, context)
                _demand_kept(request)
                return call.outgoing(response, serialize, None)
            except Rejected as rejected:
                _end(context, rejected)
                return b""

    return handler_like(handler, unary)


def behavior_of(handler: Any) -> Any:
    """The function of a handler, of whatever kind its RPC is."""
    return handler.unary_unary or handler.unary_stream or handler.stream_unary or handler.stream_stream


def handler_like(handler: Any, behavior: Any) -> Any:
    """A handler of the same kind of RPC for another function, which takes and gives bytes."""
    streams = ["stream" if found else "unary" for found in (handler.request_streaming, handler.response_streaming)]
    return getattr(grpc, f"{'_'.join(streams)}_rpc_method_handler")(behavior)


class _Requests:
    """The requests of a stream, and what was wrong with the last of them."""

    def __init__(self, messages: Iterator[Any]) -> None:
        self._messages = messages
        self.rejected: Rejected | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._messages)
        except Rejected as rejected:
            self.rejected = rejected
            raise


def _demand_kept(request: Any) -> None:
    """A handler may have caught what its requests raised: the call ends all the same. Raises Rejected."""
    if isinstance(request, _Requests) and request.rejected is not None:
        raise request.rejected


def _end(context: Any, rejected: Rejected) -> None:
    """Give a call its status; it ends when its function returns."""
    # The context of a plain function under grpc.aio does not tell what the handler has set there.
    before = context.trailing_metadata() if hasattr(context, "trailing_metadata") else ()
    context.set_trailing_metadata((*(before or ()), *rejected.metadata()))
    context.set_code(getattr(grpc.StatusCode, rejected.code))
    context.set_details(rejected.status.message)
