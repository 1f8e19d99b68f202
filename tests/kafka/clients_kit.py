"""One way to drive a guard of any client, so that one table of tests runs for all: everything is awaited.

A guard whose client waits by calls runs on a thread of its own, as a user would have it; that of aiokafka on the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from protocontract.kafka import AsyncGuard, Guard
from tests.kafka.conftest import Broker
from tests.kafka.support import CONTRACT

CLIENTS = ("kafka-python", "confluent-kafka", "aiokafka")


class Member:
    """A guard and its place to run."""

    guard: Guard[Any] | AsyncGuard[Any]

    async def start(self) -> None:
        """Enter the guard."""
        raise NotImplementedError

    async def next(self) -> Any:
        """The next record, or None at the end."""
        raise NotImplementedError

    async def run(self, handler: Callable[[Any], object], **options: Any) -> None:
        """``guard.run`` with a plain function."""
        raise NotImplementedError

    async def close(self) -> None:
        """Leave the guard."""
        raise NotImplementedError

    async def take(self, count: int) -> list[Any]:
        """So many records."""
        found = [await self.next() for _ in range(count)]
        assert None not in found
        return found

    async def rest(self) -> list[Any]:
        """All records until the guard ends."""
        found: list[Any] = []
        while (record := await self.next()) is not None:
            found.append(record)
        return found

    async def __aenter__(self) -> Member:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class _OnThread(Member):
    def __init__(self, guard: Guard[Any]) -> None:
        self.guard: Guard[Any] = guard
        self._thread = ThreadPoolExecutor(1)
        self._records: Any = None

    async def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function, *arguments)

    async def start(self) -> None:
        await self._call(self.guard.start)

    async def next(self) -> Any:
        if self._records is None:
            self._records = iter(self.guard)
        return await self._call(next, self._records, None)

    async def run(self, handler: Callable[[Any], object], **options: Any) -> None:
        await self._call(lambda: self.guard.run(handler, **options))

    async def close(self) -> None:
        await self._call(self.guard.close)
        self._thread.shutdown()


class _OnLoop(Member):
    def __init__(self, guard: AsyncGuard[Any]) -> None:
        self.guard: AsyncGuard[Any] = guard
        self._records: AsyncIterator[Any] | None = None

    async def start(self) -> None:
        await self.guard.start()

    async def next(self) -> Any:
        if self._records is None:
            self._records = aiter(self.guard)
        return await anext(self._records, None)

    async def run(self, handler: Callable[[Any], object], **options: Any) -> None:
        async def handle(message: Any) -> None:
            await asyncio.sleep(0)
            handler(message)

        await self.guard.run(handle, **options)

    async def close(self) -> None:
        await self.guard.close()


class Kit:
    """Consumers and guards of one client."""

    def __init__(self, name: str, broker: Broker | None) -> None:
        self.name = name
        self.broker = broker

    def consumer(self, topic: str, group: str, **config: Any) -> Any:
        """A consumer as the guard demands it; further options by kafka-python's names."""
        servers = self.broker.servers if self.broker is not None else "127.0.0.1:1"
        settings = {
            "group_id": group,
            "bootstrap_servers": servers,
            "enable_auto_commit": False,
            "auto_offset_reset": "earliest",
            "session_timeout_ms": 6_000,
            "heartbeat_interval_ms": 500,
            **config,
        }
        if self.name == "kafka-python":
            from protocontract.kafka import client

            return client.new_consumer(topic, settings)
        if self.name == "confluent-kafka":
            from protocontract.kafka.client_confluent import Consumer

            consumer = Consumer({name.replace("_", "."): value for name, value in settings.items()})
            consumer.subscribe([topic])
            return consumer
        import aiokafka

        return aiokafka.AIOKafkaConsumer(topic, **settings)

    def member(self, topic: str, group: str, dead: str, **options: Any) -> Member:
        """A guard that is not entered yet. ``config`` among the options is the consumer's."""
        consumer = self.consumer(topic, group, **options.pop("config", {}))
        contract = options.pop("contract", CONTRACT)
        settings = {"dead_letter_topic": dead, "backoff": (0.05, 0.5), **options}
        if self.name == "aiokafka":
            return _OnLoop(AsyncGuard(consumer, contract, **settings))
        return _OnThread(Guard(consumer, contract, **settings))

    async def refused(self, consumer: Any) -> None:
        """Close a consumer that no guard took."""
        if self.name == "aiokafka":
            await consumer.stop()
        elif self.name == "kafka-python":
            consumer.close(autocommit=False)
        else:
            with contextlib.suppress(RuntimeError):
                consumer.close()
