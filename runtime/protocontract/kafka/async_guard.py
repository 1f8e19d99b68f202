"""``AsyncGuard``: the guard for an ``AIOKafkaConsumer``, awaited in one task."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar, cast

from protocontract.kafka import clients
from protocontract.kafka.attempts import Attempts, OnFailure
from protocontract.kafka.engine import Engine, M
from protocontract.kafka.ports import Client
from protocontract.kafka.record import Record

if TYPE_CHECKING:
    from protocontract.kafka.client_aiokafka import AioConsumer

R = TypeVar("R")

#: After so many seconds without a pause the event loop has a turn: heartbeats run there.
TURN_EVERY: Final = 0.01


class AsyncGuard(Engine[M], Generic[M]):
    """Wraps an ``AIOKafkaConsumer`` and takes over its polling, its commits and its rebalance listener.

    Use it as an asynchronous context manager and iterate over it, or give ``run`` a coroutine function. It takes the
    arguments of ``Guard``; ``dead_letters`` is a configuration of ``AIOKafkaProducer``, or a function that makes such
    producers. One task, on one event loop. Records of a partition are handled in order, one at a time: the next is read
    when the handler of this one is done, and a rebalance waits for it.
    """

    _waits_by_sleeping = True

    def _recognise(self, consumer: Any) -> Client:
        return clients.async_consumer(consumer)

    def _ask_on_a_thread(self, ask: Callable[[], R]) -> R:
        from protocontract.kafka.awaiting import wait_for

        return wait_for(asyncio.to_thread(ask))

    async def start(self) -> None:
        """Check that the dead-letter topics are there and take over the consumer, which is started if it is not.

        Entering the guard does it. Raises GuardError.
        """
        if self._judge.registry is not None:
            self._judge.registry.through = self._ask_on_a_thread
        await cast("AioConsumer", self._consumer).begin()
        await self._await(self._start)

    async def close(self) -> None:
        """Wait for what is on its way, commit what is resolved, leave the group. A record in hand stays unresolved."""
        from protocontract.kafka.client_aiokafka import wait_for_retired

        try:
            await self._await(self._close)
        finally:
            await wait_for_retired(1.0)

    async def _await(self, function: Callable[..., Any], *arguments: Any) -> Any:
        from protocontract.kafka.awaiting import run

        return await run(function, *arguments)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> AsyncIterator[Record[M]]:
        """Valid records in the order of each partition. A record is finished when the loop comes back for the next.

        A cancellation while it waits for the next record loses nothing; the same iterator goes on after it.
        """
        return _Records(self)

    async def run(
        self,
        handler: Callable[[M], Awaitable[object]],
        *,
        retries: int = 0,
        backoff: tuple[float, float] = (0.1, 30.0),
        on_failure: OnFailure = "stop",
    ) -> None:
        """Await ``handler`` with each message until ``stop`` is called; the rest is as for ``Guard.run``."""
        attempts = Attempts(self, retries, backoff, on_failure)
        async for record in self:
            attempts.begin(record)
            while True:
                try:
                    await handler(cast(M, record.message))
                    break
                except Exception as error:
                    # Any exception of the handler's is a failed attempt: what it means is the caller's business.
                    if not await self._await(attempts.again, error):
                        break


class _Records(AsyncIterator[Record[M]], Generic[M]):
    """The records of a guard, one by one."""

    def __init__(self, guard: AsyncGuard[M]) -> None:
        from protocontract.kafka.awaiting import run

        self._run = run
        self._guard = guard
        self._records: Iterator[Record[M]] | None = None
        self._turn = time.monotonic()

    async def __anext__(self) -> Record[M]:
        now = time.monotonic()
        if now - self._turn >= TURN_EVERY:
            await asyncio.sleep(0)
            self._turn = time.monotonic()
        if self._records is None:
            self._records = self._guard._records()
        try:
            found = await self._run(next, self._records, None)
        except BaseException:
            # Also a cancellation: the generator is at its end with it, and the next call begins where this one left.
            self._records = None
            raise
        if found is None:
            raise StopAsyncIteration
        return cast("Record[M]", found)
