"""Clients: what breaks its contract is not sent, what comes is held to it, and every call has a deadline.

The servers here check nothing. Each kind of RPC, in each style in which a client can make it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import grpc.aio
import pytest

from protocontract.serving import (
    ResponseViolation,
    SyncContractClientInterceptor,
    client_interceptors,
    service_config,
)
from protocontract.violations import ContractViolation
from tests.serving.echo import KINDS, SERVICE, Seen, answer, ask, contracts, generic, pool, sync_handlers

STYLES = {
    "Unary": ("aio", "sync", "future"),
    "Server": ("aio", "aio read", "sync"),
    "Client": ("aio", "aio write", "sync", "future"),
    "Both": ("aio", "aio write", "sync"),
}
TABLE = [(kind, style) for kind in KINDS for style in STYLES[kind]]
table = pytest.mark.parametrize(("kind", "style"), TABLE, ids=[f"{kind}, {style}" for kind, style in TABLE])
STREAMS_IN, STREAMS_OUT = ("Client", "Both"), ("Server", "Both")


@contextmanager
def server(seen: Seen, handlers: dict[str, Any] | None = None) -> Iterator[str]:
    """A server that checks nothing. Its address."""
    made = grpc.server(ThreadPoolExecutor(4))
    made.add_generic_rpc_handlers((generic(handlers or sync_handlers(seen), SERVICE),))
    port = made.add_insecure_port("127.0.0.1:0")
    made.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        made.stop(None).wait()


def options() -> dict[str, Any]:
    return {
        "request_serializer": lambda message: message.SerializeToString(),
        "response_deserializer": contracts()["echo.v1.Answer"].message_type.FromString,
    }


def make(
    address: str,
    kind: str,
    style: str,
    requests: Sequence[Any],
    got: list[str],
    *,
    timeout: float | None = 20,
    **more: Any,
) -> None:
    """Make a call; the texts of its responses go to ``got`` as they come. Raises whatever the call raises."""
    if style.startswith("aio"):
        asyncio.run(_aio(address, kind, style, requests, got, timeout, more))
        return
    with grpc.insecure_channel(address) as plain:
        channel: Any = grpc.intercept_channel(plain, SyncContractClientInterceptor(contracts(), pool=pool(), **more))
        sides = ["stream" if kind in kinds else "unary" for kinds in (STREAMS_IN, STREAMS_OUT)]
        method = getattr(channel, "_".join(sides))(f"/{SERVICE}/{kind}", **options())
        sent = iter(requests) if kind in STREAMS_IN else requests[0]
        if kind in STREAMS_OUT:
            for response in method(sent, timeout=timeout):
                got += [response.text]
        elif style == "future":
            future = method.future(sent, timeout=timeout)
            error = future.exception()
            if error is not None:
                raise error
            got += [future.result().text]
        else:
            got += [method(sent, timeout=timeout).text]


async def _aio(
    address: str, kind: str, style: str, requests: Sequence[Any], got: list[str], timeout: float | None, more: Any
) -> None:
    interceptors = client_interceptors(contracts(), pool=pool(), **more)
    async with grpc.aio.insecure_channel(address, interceptors=interceptors) as channel:
        path = f"/{SERVICE}/{kind}"
        if kind == "Server":
            await _read(channel.unary_stream(path, **options())(requests[0], timeout=timeout), style, got)
        elif kind in STREAMS_IN:
            method: Any = channel.stream_unary if kind == "Client" else channel.stream_stream
            call = method(path, **options())(None if style == "aio write" else _sent(requests), timeout=timeout)
            if style == "aio write":
                for request in requests:
                    try:
                        await call.write(request)
                    except asyncio.InvalidStateError:  # the call has ended: its result says why
                        break
                else:
                    await call.done_writing()
            if kind == "Client":
                got.append((await call).text)
            else:
                await _read(call, style, got)
        else:
            got.append((await channel.unary_unary(path, **options())(requests[0], timeout=timeout)).text)


async def _read(call: Any, style: str, got: list[str]) -> None:
    if style == "aio read":
        while (response := await call.read()) is not grpc.aio.EOF:  # pyright: ignore[reportAttributeAccessIssue]
            got.append(response.text)
        return
    async for response in call:
        got += [response.text]


async def _sent(requests: Sequence[Any]) -> AsyncIterator[Any]:
    for request in requests:
        yield request


@table
def test_requests_leave_normalised(kind: str, style: str) -> None:
    seen, got = Seen(), list[str]()
    requests = [ask("  one ", "1"), ask(" two", "2")] if kind in STREAMS_IN else [ask("  one ", "1")]
    with server(seen) as address:
        make(address, kind, style, requests, got, check_responses=True)
    assert seen.texts == ["one", "two"][: len(requests)]
    assert got == {"Unary": ["1"], "Server": ["first", "1"], "Client": ["2"], "Both": ["1", "2"]}[kind]
    assert requests[0].text == "  one "  # the caller's own message stays as it is


@table
def test_what_breaks_its_contract_is_not_sent(kind: str, style: str) -> None:
    seen, got = Seen(), list[str]()
    bad = ask("", secret="hunter2hunter2")
    with server(seen) as address, pytest.raises(ContractViolation) as caught:
        make(address, kind, style, [ask("one", "1"), bad, ask("three", "3")] if kind in STREAMS_IN else [bad], got)
    assert type(caught.value) is ContractViolation
    assert [violation.rule_id for violation in caught.value.violations] == ["string.min_len", "string.max_len"]
    notes = getattr(caught.value, "__notes__", [])
    assert notes == ([f"message 1 of the stream of requests to /echo.v1.Echo/{kind}"] if kind in STREAMS_IN else [])
    assert "hunter2" not in str(caught.value)
    assert "" not in seen.texts
    assert "three" not in seen.texts
    assert set(got) <= {"1"}


@table
def test_what_comes_is_held_to_its_contract_where_that_is_asked_for(kind: str, style: str) -> None:
    requests = [ask("one", "1"), ask("two", "far too long a text")]
    requests = requests if kind in STREAMS_IN else requests[1:]
    got: list[str] = []
    with server(Seen()) as address:
        make(address, kind, style, requests, got)
        assert got[-1] == "far too long a text"
        got.clear()
        with pytest.raises(ResponseViolation) as caught:
            make(address, kind, style, requests, got, check_responses=True)
    assert caught.value.violations[0].rule_id == "string.max_len"
    notes = getattr(caught.value, "__notes__", [])
    assert notes == ([f"message 1 of the stream of responses of /echo.v1.Echo/{kind}"] if kind in STREAMS_OUT else [])
    assert got == {"Server": ["first"], "Both": ["1"]}.get(kind, [])


@table
def test_the_servers_own_errors_come_through(kind: str, style: str) -> None:
    def fail(*_: Any) -> Any:
        raise ValueError("no")

    def stream(*_: Any) -> Any:
        yield answer("first")
        raise ValueError("no")

    handlers = {"Unary": fail, "Client": fail, "Server": stream, "Both": stream}
    got: list[str] = []
    with server(Seen(), handlers) as address, pytest.raises(grpc.RpcError) as caught:
        make(address, kind, style, [ask("one", "1")], got, check_responses=True)
    error: Any = caught.value
    assert error.code() is grpc.StatusCode.UNKNOWN
    assert got == (["first"] if kind in STREAMS_OUT else [])


@pytest.mark.parametrize("asked", [None, 60.0])
@pytest.mark.parametrize("style", ["aio", "sync", "future"])
def test_s14_a_call_has_a_deadline_that_nobody_set(style: str, asked: float | None) -> None:
    """gRPC for Python keeps none from the service's configuration; the server would take half a minute."""
    go = _Waiting()
    with server(Seen(), {"Slow": go.handler}) as address:
        with pytest.raises(grpc.RpcError) as caught:
            make(address, "Slow", style, [ask("one")], [], timeout=asked)
        go.open()
    error: Any = caught.value
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED


class _Waiting:
    def __init__(self) -> None:
        self._open = threading.Event()
        self.open: Callable[[], None] = self._open.set

    def handler(self, request: Any, context: Any) -> Any:
        self._open.wait(120)
        return answer("late")


def test_services_without_a_contract_pass() -> None:
    def ping(request: bytes, context: Any) -> bytes:
        return request

    made = grpc.server(ThreadPoolExecutor(1))
    handler = grpc.unary_unary_rpc_method_handler(ping)
    made.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("other.v1.Other", {"Ping": handler}),))
    port = made.add_insecure_port("127.0.0.1:0")
    made.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as plain:
            channel = grpc.intercept_channel(plain, SyncContractClientInterceptor(contracts(), pool=pool()))
            assert channel.unary_unary("/other.v1.Other/Ping")(b"x") == b"x"

        async def main() -> bytes:
            interceptors = client_interceptors(contracts(), pool=pool())
            async with grpc.aio.insecure_channel(f"127.0.0.1:{port}", interceptors=interceptors) as channel:
                found: bytes = await channel.unary_unary("/other.v1.Other/Ping")(b"x")
                return found

        assert asyncio.run(main()) == b"x"
    finally:
        made.stop(None).wait()


def test_beside_grpcs_own_retries() -> None:
    """The service configuration's retries happen below: one call of the interceptor, three of the server."""
    calls: list[int] = []

    def unary(request: Any, context: Any) -> Any:
        calls.append(1)
        if len(calls) < 3:
            context.abort(grpc.StatusCode.UNAVAILABLE, "not yet")
        return answer("1")

    async def main(address: str) -> str:
        async with grpc.aio.insecure_channel(
            address,
            options=[("grpc.service_config", service_config("echo.v1.Echo", pool=pool()))],
            interceptors=client_interceptors(contracts(), pool=pool(), check_responses=True),
        ) as channel:
            call = channel.unary_unary("/echo.v1.Echo/Again", **options())(ask("good"))
            text: str = (await call).text
            assert await call.code() is grpc.StatusCode.OK
            return text

    with server(Seen(), {"Again": unary}) as address:
        assert asyncio.run(main(address)) == "1"
    assert len(calls) == 3
