"""As many calls of a method as may wait, wait; one more is refused at once, whoever else is busy (S21)."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import grpc
import grpc.aio
import pytest

from protocontract.serving.door import Door, Place, Queue
from protocontract.serving.methods import Level, Method
from protocontract.serving.rejection import Rejected
from tests.serving.echo import Seen, answer, ask, call, serving, status

WAITING = "echo.v1.Waiting"
STYLES = ("grpc.server", "aio, plain functions", "aio, iterators")


class Gate:
    """Keeps handlers of either style until it is opened."""

    def __init__(self) -> None:
        self._open = threading.Event()

    def open(self) -> None:
        self._open.set()

    def wait(self) -> None:
        assert self._open.wait(120)

    async def wait_here(self) -> None:
        while not self._open.is_set():
            await asyncio.sleep(0.005)


def plain(gate: Gate) -> Callable[[Seen], dict[str, Any]]:
    def made(seen: Seen) -> dict[str, Any]:
        def unary(request: Any, context: Any) -> Any:
            gate.wait()
            return seen.reply(request)

        def server(request: Any, context: Any) -> Iterator[Any]:
            gate.wait()
            yield seen.reply(request)

        def client(requests: Iterator[Any], context: Any) -> Any:
            gate.wait()
            return [seen.reply(request) for request in requests][-1]

        def both(requests: Iterator[Any], context: Any) -> Iterator[Any]:
            gate.wait()
            for request in requests:
                yield seen.reply(request)

        return {"Unary": unary, "Server": server, "Client": client, "Both": both, "Batched": unary}

    return made


def coroutines(gate: Gate) -> Callable[[Seen], dict[str, Any]]:
    def made(seen: Seen) -> dict[str, Any]:
        async def unary(request: Any, context: Any) -> Any:
            await gate.wait_here()
            return seen.reply(request)

        async def server(request: Any, context: Any) -> AsyncIterator[Any]:
            await gate.wait_here()
            yield seen.reply(request)

        async def client(requests: AsyncIterator[Any], context: Any) -> Any:
            await gate.wait_here()
            return [seen.reply(request) async for request in requests][-1]

        async def both(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
            await gate.wait_here()
            async for request in requests:
                yield seen.reply(request)

        return {"Unary": unary, "Server": server, "Client": client, "Both": both, "Batched": unary}

    return made


class Waiting:
    """A server whose handlers wait, and calls to it."""

    def __init__(self, style: str, channel: grpc.aio.Channel, gate: Gate, interceptor: Any) -> None:
        self.style = style
        self.channel = channel
        self.gate = gate
        self._calls = interceptor._calls

    def start(self, kind: str, number: int, text: str = "good") -> list[asyncio.Task[list[str]]]:
        return self.send(kind, number, ask(text, "1"))

    def send(self, kind: str, number: int, request: Any) -> list[asyncio.Task[list[str]]]:
        return [asyncio.ensure_future(call(self.channel, kind, [request], 120, WAITING)) for _ in range(number)]

    def inside(self, kind: str) -> int:
        return int(self._calls.find(f"/{WAITING}/{kind}").door.queue.inside)


async def refused(tasks: list[asyncio.Task[list[str]]], number: int) -> list[grpc.aio.AioRpcError]:
    """The errors of the first ``number`` calls that end, while the others wait."""
    found: list[grpc.aio.AioRpcError] = []
    pending = set(tasks)
    async with asyncio.timeout(120):
        while len(found) < number:
            done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                error = each.exception()
                assert isinstance(error, grpc.aio.AioRpcError), each.result()
                found.append(error)
    return found


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.005)


def held() -> int:
    """How many calls are kept in memory."""
    gc.collect()
    return sum(isinstance(each, Place) for each in gc.get_objects())


def run(style: str, body: Callable[[Waiting], Any]) -> None:
    async def main() -> None:
        gate, made = Gate(), list[Any]()
        handlers = (coroutines if style == "aio, iterators" else plain)(gate)
        async with serving(style, Seen(), handlers, service=WAITING, made=made) as channel:
            try:
                await body(Waiting(style, channel, gate, made[0]))
            finally:
                gate.open()

    asyncio.run(main())


@pytest.mark.parametrize("style", STYLES)
def test_s21_the_surplus_is_refused_at_once(style: str) -> None:
    """Queue limit 100, 500 requests at once. None of the 100 has an answer yet when the 400 have theirs."""

    async def body(server: Waiting) -> None:
        for _ in range(2):
            tasks = server.start("Unary", 500)
            errors = await refused(tasks, 400)
            assert sum(not task.done() for task in tasks) == 100
            assert server.inside("Unary") == 100
            assert {error.code() for error in errors} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
            info = status(errors[0])[1]
            assert (info.reason, info.metadata["limit"]) == ("QUEUE_FULL", "100")
            assert errors[0].details() == "100 requests are inside, and no more may wait; try again later"
            errors.clear()
            # Nothing of those that were refused is kept, but of the last one, by gRPC.
            await until(lambda: held() <= 101)
            server.gate.open()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            assert results.count(["1"]) == 100
            await until(lambda: server.inside("Unary") == 0)
            server.gate._open.clear()

    run(style, body)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("kind", ["Server", "Client", "Both"])
def test_streams_have_places_too(style: str, kind: str) -> None:
    async def body(server: Waiting) -> None:
        tasks = server.start(kind, 6)
        await until(lambda: server.inside(kind) == 6)
        surplus = server.start(kind, 3) if kind == "Server" else server.send(kind, 3, None)  # as `call` says of None
        for error in await refused(surplus, 3):
            assert status(error)[1].reason == "QUEUE_FULL"
        server.gate.open()
        assert (await asyncio.gather(*tasks, return_exceptions=True)).count(["1"]) == 6
        assert await call(server.channel, kind, [ask("good", "2")], 60, WAITING) == ["2"]

    run(style, body)


@pytest.mark.parametrize("style", STYLES)
def test_what_a_full_queue_is_told_after(style: str) -> None:
    """Size comes before the queue, in whatever state that is; the contract behind it."""

    async def body(server: Waiting) -> None:
        tasks = server.start("Unary", 101)
        await refused(tasks, 1)
        for text, reason in (("x" * 1000, "REQUEST_TOO_LARGE"), ("", "QUEUE_FULL")):
            error = (await refused(server.start("Unary", 1, text), 1))[0]
            assert status(error)[1].reason == reason
        server.gate.open()
        await asyncio.gather(*tasks, return_exceptions=True)

    run(style, body)


@pytest.mark.parametrize("style", STYLES)
def test_who_goes_away_gives_the_place_back(style: str) -> None:
    """On threads, the last of these calls never runs: its caller is gone when a thread is free.

    Not with a plain function that streams under grpc.aio: there gRPC's own thread waits for ever for whoever went away.
    """

    async def body(server: Waiting) -> None:
        tasks = server.start("Batched", 5)
        await until(lambda: server.inside("Batched") == 5)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        server.gate.open()
        await until(lambda: server.inside("Batched") == 0)
        assert await asyncio.gather(*server.start("Batched", 5)) == [["1"]] * 5

    run(style, body)


def test_those_that_may_run_together_do_not_wait() -> None:
    """A queue of two behind a batch of three: five may be inside."""

    async def body(server: Waiting) -> None:
        tasks = server.start("Batched", 6)
        await refused(tasks, 1)
        assert server.inside("Batched") == 5
        server.gate.open()
        await asyncio.gather(*tasks, return_exceptions=True)

    run("aio, iterators", body)


def test_places() -> None:
    queue = Queue(1)
    first, second = queue.arrive(), queue.arrive()
    assert (first.taken, second.taken, queue.inside) == (True, False, 1)
    second.leave()
    assert queue.inside == 1
    first.leave()
    first.leave()
    assert queue.inside == 0
    for _ in range(2):
        third = queue.arrive()
        assert third.taken
        del third
        assert queue.inside == 0


def test_a_place_may_be_collected_at_any_moment() -> None:
    """Also by a thread that is just entering or leaving."""
    queue = Queue(1)
    place = queue.arrive()
    with queue._lock:
        del place
    assert queue.inside == 0
    assert queue.arrive().taken


def test_without_a_limit_all_have_places() -> None:
    endless = Queue(None)
    assert all(endless.arrive().taken for _ in range(1000))


def test_a_door_without_places_is_as_it_was() -> None:
    door = Door(Method("/a/b", None, None, Level(queue=1)))
    door.enter(10, None)
    door.enter(10, None, door.queue.arrive())
    place = door.queue.arrive()
    with place, pytest.raises(Rejected, match="1 requests are inside"):
        door.enter(10, None, door.queue.arrive())
    assert answer("x").text == "x"
