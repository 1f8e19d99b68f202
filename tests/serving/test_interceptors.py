"""Every kind of RPC with every style of handler on real servers: what passes, what is refused, and what is said."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import grpc
import grpc.aio
import pytest

from protocontract.serving.interceptor_aio import abort
from protocontract.serving.rejection import MAX_STATUS, refused
from tests.serving.echo import KINDS, STYLES, Seen, answer, ask, call, call_into, serving, status

TABLE = [(kind, style) for kind in KINDS for style in STYLES]
table = pytest.mark.parametrize(("kind", "style"), TABLE, ids=[f"{kind}, {style}" for kind, style in TABLE])
STREAMS_IN, STREAMS_OUT = ("Client", "Both"), ("Server", "Both")


def run(
    style: str,
    seen: Seen,
    body: Callable[[grpc.aio.Channel], Coroutine[Any, Any, None]],
    handlers: Callable[[Seen], dict[str, Any]] | None = None,
) -> None:
    async def main() -> None:
        async with serving(style, seen, handlers) as channel:
            await body(channel)

    asyncio.run(main())


@table
def test_what_keeps_its_contract_passes_normalised(kind: str, style: str) -> None:
    seen = Seen()

    async def body(channel: grpc.aio.Channel) -> None:
        requests = [ask(" one ", " 1 "), ask(" two ", " 2 ")] if kind in STREAMS_IN else [ask(" one ", " 1 ")]
        expected = {"Unary": ["1"], "Server": ["first", "1"], "Client": ["2"], "Both": ["1", "2"]}
        assert await call(channel, kind, requests) == expected[kind]
        assert seen.texts == (["one", "two"] if kind in STREAMS_IN else ["one"])

    run(style, seen, body)


@table
def test_a_bad_request_is_refused_with_its_violations_and_without_values(kind: str, style: str) -> None:
    seen = Seen()
    bad = ask("   ", secret="hunter2hunter2", numbers=[1.0, float("nan"), 2.0, float("inf")])

    async def body(channel: grpc.aio.Channel) -> None:
        requests = [ask("good", "1"), ask("good", "2"), bad, None] if kind in STREAMS_IN else [bad]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(channel, kind, requests)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        found, info, told, metadata = status(caught.value)
        assert caught.value.details() == found.message
        where = "the request's message 2" if kind in STREAMS_IN else "the request"
        assert found.message.startswith(f"{where} breaks its contract: echo.v1.Ask text: ")
        assert (info.domain, info.reason) == ("protocontract", "STRING_MIN_LEN")
        assert info.metadata["total"] == "4"
        assert info.metadata["field"] == "text"
        assert info.metadata.get("index") == ("2" if kind in STREAMS_IN else None)
        assert [(each.field, each.reason) for each in told.field_violations] == [
            ("text", "STRING_MIN_LEN"),
            ("secret", "STRING_MAX_LEN"),
            ("numbers[1]", "FLOAT_FINITE"),
        ]
        assert told.field_violations[2].description.endswith("; 2 times")
        assert metadata["protocontract-contract"] == "echo.v1.Ask"
        assert metadata["protocontract-version"] == "1.2.0"
        assert len(str(metadata["protocontract-fingerprint"])) == 64
        assert b"hunter2" not in found.SerializeToString()

    run(style, seen, body)
    assert "" not in seen.texts


@table
def test_a_bad_response_is_the_services_own_fault(kind: str, style: str, caplog: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    got: list[str] = []

    async def body(channel: grpc.aio.Channel) -> None:
        requests = (
            [ask("good", "1"), ask("good", "far too long")] if kind in STREAMS_IN else [ask("good", "too long a text")]
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_into(got, channel, kind, requests)
        assert caught.value.code() is grpc.StatusCode.INTERNAL
        found, info, _, metadata = status(caught.value)
        where = "the response's message 1" if kind in STREAMS_OUT else "the response"
        assert found.message.startswith(f"{where} breaks its contract: echo.v1.Answer text: ")
        assert (info.reason, info.metadata["rule_id"]) == ("STRING_MAX_LEN", "string.max_len")
        assert metadata["protocontract-version"] == "2.0.0"

    with caplog.at_level(logging.ERROR, "protocontract.serving"):
        run(style, seen, body)
    assert got == {"Server": ["first"], "Both": ["1"]}.get(kind, [])
    assert [record.levelname for record in caplog.records if record.name == "protocontract.serving"] == ["ERROR"]


@pytest.mark.parametrize("style", STYLES)
def test_bytes_that_are_no_message_are_refused_as_data(style: str) -> None:
    seen = Seen()

    async def body(channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(channel, "Unary", [b"\xff\xff\xff"])
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert status(caught.value)[1].reason == "WIRE_MALFORMED"

    run(style, seen, body)
    assert seen.texts == []


def test_many_violations_are_told_within_what_trailers_carry() -> None:
    async def body(channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(channel, "Unary", [ask("x" * 1001, secret="y" * 5000, numbers=[float("nan")] * 10_000)])
        found, info, told, _ = status(caught.value)
        assert found.ByteSize() <= MAX_STATUS
        assert info.metadata["total"] == "10002"
        assert len(told.field_violations) == 3

    run("aio, iterators", Seen(), body)


@pytest.mark.parametrize("style", ["aio, iterators", "aio, plain functions", "grpc.server"])
def test_the_door_refuses_by_size_then_by_rate_and_validation_has_paid(style: str) -> None:
    """Two tokens and no refill worth the name: what is too large costs none, what is invalid costs one."""
    seen = Seen()

    async def code(channel: grpc.aio.Channel, request: Any) -> tuple[str, str]:
        try:
            await call(channel, "Small", [request])
        except grpc.aio.AioRpcError as error:
            return error.code().name, status(error)[1].reason
        return "OK", ""

    async def body(channel: grpc.aio.Channel) -> None:
        large, invalid, good = ask("x" * 100), ask(""), ask("good", "1")
        assert [await code(channel, each) for each in (large, large, large, invalid, good, good, invalid, large)] == [
            ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE"),
            ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE"),
            ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE"),
            ("INVALID_ARGUMENT", "STRING_MIN_LEN"),
            ("OK", ""),
            ("RESOURCE_EXHAUSTED", "RATE_LIMIT"),
            ("RESOURCE_EXHAUSTED", "RATE_LIMIT"),
            ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE"),
        ]

    run(style, seen, body)
    assert seen.texts == ["good"]


@pytest.mark.parametrize("asked", [None, 60.0])
def test_a_caller_has_its_answer_within_the_declared_deadline(asked: float | None) -> None:
    """S14: none asked for, or more than the longest that is declared."""

    async def body(channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(channel, "Slow", [ask("good")], timeout=asked)
        assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert status(caught.value)[1].reason == "DEADLINE"

    run("aio, iterators", Seen(), body)


def test_a_handler_that_returns_something_else_is_told() -> None:
    class Odd(Seen):
        def reply(self, request: Any) -> Any:
            return None

    async def body(channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(channel, "Unary", [ask("good")])
        assert caught.value.code() is grpc.StatusCode.INTERNAL
        assert "returned NoneType; expected echo.v1.Answer" in str(caught.value.details())

    run("aio, iterators", Odd(), body)


def stubborn_sync(seen: Seen) -> dict[str, Any]:
    def both(requests: Iterator[Any], context: Any) -> Iterator[Any]:
        try:
            for request in requests:
                yield seen.reply(request)
        except Exception:
            yield answer("never mind")

    return {"Both": both}


def stubborn_async(seen: Seen) -> dict[str, Any]:
    async def both(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        try:
            async for request in requests:
                yield seen.reply(request)
        except Exception:
            yield answer("never mind")

    return {"Both": both}


def marking(seen: Seen) -> dict[str, Any]:
    async def unary(request: Any, context: Any) -> Any:
        context.set_trailing_metadata((("x-mark", "1"),))
        return answer(request.reply)

    return {"Unary": unary}


@pytest.mark.parametrize(
    ("style", "handlers"),
    [("grpc.server", stubborn_sync), ("aio, plain functions", stubborn_sync), ("aio, iterators", stubborn_async)],
)
def test_a_handler_that_catches_everything_cannot_answer_a_bad_request(
    style: str, handlers: Callable[[Seen], dict[str, Any]]
) -> None:
    got: list[str] = []

    async def body(channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call_into(got, channel, "Both", [ask("good", "1"), ask(""), None])
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert status(caught.value)[1].metadata["index"] == "1"

    run(style, Seen(), body, handlers)
    assert got == ["1"]


def test_trailing_metadata_of_the_handler_stays() -> None:
    async def body(channel: grpc.aio.Channel) -> None:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(channel, "Unary", [ask("good", "far too long a text")])
        assert dict(caught.value.trailing_metadata() or ())["x-mark"] == "1"

    run("aio, iterators", Seen(), body, marking)


def test_a_status_that_nobody_takes_any_more_is_no_error_of_the_service() -> None:
    """The caller is gone when its refusal is sent. gRPC raises then, where it cannot send."""

    class Context:
        def trailing_metadata(self) -> tuple[()]:
            return ()

        async def abort(self, *_: Any) -> None:
            raise grpc.aio.InternalError('Failed "execute_batch": (<operations>,)')

    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await abort(Context(), refused("RESOURCE_EXHAUSTED", "as many wait as may"))

    asyncio.run(main())
