"""The interceptor for clients of ``grpc``: a deadline for each call, requests checked before they are sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import grpc

from protocontract.contract import Contract
from protocontract.serving.client_call import ClientCall, ClientCalls, Wrapped
from protocontract.violations import ContractViolation


class SyncContractClientInterceptor(
    grpc.UnaryUnaryClientInterceptor,  # type: ignore[misc]  # untyped base classes
    grpc.UnaryStreamClientInterceptor,  # type: ignore[misc]
    grpc.StreamUnaryClientInterceptor,  # type: ignore[misc]
    grpc.StreamStreamClientInterceptor,  # type: ignore[misc]
):
    """As ``client_interceptors``, for ``grpc.intercept_channel(channel, SyncContractClientInterceptor())``.

    Where a stream of requests has a bad message, gRPC logs that iterating it raised; the caller has the violation.
    """

    def __init__(
        self,
        contracts: Mapping[str, Contract[Any]] | None = None,
        *,
        pool: Any = None,
        check_responses: bool = False,
    ) -> None:
        """``contracts`` by full message name come before generated ones; ``pool`` knows the services."""
        self._calls = ClientCalls(contracts, pool, check_responses=check_responses)

    def intercept_unary_unary(self, continuation: Callable[..., Any], client_call_details: Any, request: Any) -> Any:
        """A call with one request and one response."""
        mine = self._calls.find(client_call_details)
        if mine is None:
            return continuation(client_call_details, request)
        return _Answer(mine, continuation(mine.details(client_call_details), mine.request(request)))

    def intercept_unary_stream(self, continuation: Callable[..., Any], client_call_details: Any, request: Any) -> Any:
        """A call with one request and a stream of responses."""
        mine = self._calls.find(client_call_details)
        if mine is None:
            return continuation(client_call_details, request)
        return _Responses(mine, continuation(mine.details(client_call_details), mine.request(request)))

    def intercept_stream_unary(
        self, continuation: Callable[..., Any], client_call_details: Any, request_iterator: Any
    ) -> Any:
        """A call with a stream of requests and one response."""
        mine = self._calls.find(client_call_details)
        if mine is None:
            return continuation(client_call_details, request_iterator)
        return _Answer(mine, continuation(mine.details(client_call_details), _requests(mine, request_iterator)))

    def intercept_stream_stream(
        self, continuation: Callable[..., Any], client_call_details: Any, request_iterator: Any
    ) -> Any:
        """A call with streams both ways."""
        mine = self._calls.find(client_call_details)
        if mine is None:
            return continuation(client_call_details, request_iterator)
        return _Responses(mine, continuation(mine.details(client_call_details), _requests(mine, request_iterator)))


def _requests(mine: ClientCall, messages: Iterable[Any]) -> Iterator[Any]:
    for index, message in enumerate(messages):
        yield mine.request(message, index)


class _Answer(Wrapped):
    """A call with one response. Where its requests were bad, gRPC says that iterating them failed; this says why."""

    def result(self, timeout: float | None = None) -> Any:
        """The response. Raises ContractViolation, ResponseViolation, and what gRPC raises."""
        try:
            response = self._call.result(timeout)
        except grpc.RpcError:
            if self._mine.broken is None:
                raise
            raise self._mine.broken from None
        self._mine.response(response)
        return response

    def exception(self, timeout: float | None = None) -> Exception | None:
        """What ``result`` raises, or None."""
        found: Exception | None = self._call.exception(timeout)
        if found is not None:
            return self._mine.broken or found
        try:
            self._mine.response(self._call.result(timeout))
        except ContractViolation as error:
            return error
        return None


class _Responses(Wrapped):
    """The responses of a call, each held to its contract."""

    _index = 0

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            response = next(self._call)
        except grpc.RpcError:
            if self._mine.broken is None:
                raise
            raise self._mine.broken from None
        try:
            self._mine.response(response, self._index)
        except ContractViolation:
            self._call.cancel()
            raise
        self._index += 1
        return response
