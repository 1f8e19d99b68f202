"""``AsyncGuard`` over the in-memory log: its consumer waits as one of aiokafka does, and nothing else is different."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from protocontract.kafka import AsyncGuard, GuardError, client
from protocontract.kafka.awaiting import run, wait_for
from protocontract.kafka.memory import MemoryConsumer, MemoryFuture, MemoryLog, SendFault
from protocontract.kafka.ports import Client
from tests.kafka.support import BAD, CONTRACT, DEAD, GARBAGE, TOPIC, committed, dead_headers, good, new_log


class Consumer(MemoryConsumer):
    """Waits on the event loop."""

    async def begin(self) -> None:
        """It needs no start."""

    def poll(self, timeout_ms: int = 0, max_records: int | None = None) -> Any:
        wait_for(asyncio.sleep(0))
        found = super().poll(0, max_records)
        if not found and self.on_idle is None:
            wait_for(asyncio.sleep(timeout_ms / 1000))
        return found

    def commit(self, offsets: Any = None, timeout_ms: int | None = None) -> None:
        wait_for(asyncio.sleep(0))
        super().commit(offsets, timeout_ms)

    def commit_async(self, offsets: Any = None, callback: Callable[..., object] | None = None) -> Any:
        # It does not wait.
        future = MemoryFuture()
        MemoryConsumer.commit(self, offsets)
        future.success(None)
        return future


class MemoryAsyncGuard(AsyncGuard[Any]):
    """An ``AsyncGuard`` that takes the consumer above."""

    def _recognise(self, consumer: Any) -> Client:
        return dataclasses.replace(client.of(consumer), sleep=lambda seconds: wait_for(asyncio.sleep(seconds)))


def guard(log: MemoryLog, **options: Any) -> MemoryAsyncGuard:
    config = log.consumer(TOPIC).config
    return MemoryAsyncGuard(
        Consumer(log, [TOPIC], config),
        CONTRACT,
        **{"dead_letters": log.producer, "stop_at_end": True, "backoff": (0.001, 0.01), "grace": 0.5, **options},
    )


def test_good_records_are_delivered_and_bad_ones_dead_lettered() -> None:
    log = new_log()
    for number in range(10):
        log.append(TOPIC, GARBAGE if number in (0, 9) else good(number))

    async def main() -> list[int]:
        async with guard(log) as records:
            return [record.offset async for record in records]

    assert asyncio.run(main()) == list(range(1, 9))
    assert (committed(log), len(log.records(DEAD))) == (10, 2)


def test_others_run_while_a_handler_waits_and_while_the_guard_does() -> None:
    log = new_log()
    for number in range(3):
        log.append(TOPIC, good(number))
    log.append(TOPIC, BAD)
    faults = [SendFault("fail")] * 3
    log.on_send = lambda topic, value: faults.pop() if faults else None
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def main() -> list[int]:
        task = asyncio.create_task(others())
        async with guard(log) as records:
            found = []
            async for record in records:
                before = turns
                await asyncio.sleep(0)
                assert turns > before
                found.append(record.offset)
            before = turns
        task.cancel()
        return found

    assert asyncio.run(main()) == [0, 1, 2]
    # Three sends failed, with a pause after each.
    assert turns > 20
    assert (committed(log), len(log.records(DEAD))) == (4, 1)


def test_run_retries_waits_and_stops() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    log.append(TOPIC, good(2))
    calls: list[str] = []

    async def handler(message: Any) -> None:
        await asyncio.sleep(0)
        calls.append(message.id)
        if message.id == "p2":
            raise ValueError("boom")

    async def main(**options: Any) -> None:
        async with guard(log) as each:
            await each.run(handler, retries=2, backoff=(0.001, 0.002), **options)

    with pytest.raises(ValueError, match="boom"):
        asyncio.run(main())
    assert calls == ["p1", "p2", "p2", "p2"]
    assert committed(log) == 1
    asyncio.run(main(on_failure="dead_letter"))
    assert committed(log) == 2
    assert dead_headers(log.records(DEAD)[0])["protocontract.reason"] == b"ValueError"
    with pytest.raises(GuardError, match="on_failure"):
        asyncio.run(main(on_failure="skip"))


def test_a_record_is_rejected_from_the_users_own_task() -> None:
    log = new_log()
    log.append(TOPIC, good(1))

    async def main() -> None:
        async with guard(log) as records:
            async for record in records:
                record.reject("no such account")

    asyncio.run(main())
    assert dead_headers(log.records(DEAD)[0])["protocontract.reason"] == b"no such account"
    assert committed(log) == 1


def test_the_same_iterator_goes_on_after_a_cancellation() -> None:
    log = new_log()
    log.append(TOPIC, good(0))

    async def main() -> list[int]:
        async with guard(log, stop_at_end=False) as each:
            records = aiter(each)
            found = [(await anext(records)).offset]
            for _ in range(3):
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(records), 0.02)
            log.append(TOPIC, good(1))
            found.append((await anext(records)).offset)
            return found

    assert asyncio.run(main()) == [0, 1]
    # The first is finished by asking for the next; the second was in hand.
    assert committed(log) == 1


def test_an_exception_in_the_loop_leaves_the_record_in_hand_unresolved() -> None:
    log = new_log()
    for number in range(5):
        log.append(TOPIC, good(number))

    async def main() -> None:
        async with guard(log) as records:
            async for record in records:
                if record.offset == 3:
                    raise RuntimeError

    with pytest.raises(RuntimeError):
        asyncio.run(main())
    assert committed(log) == 3


# -- waiting by calls


def test_what_is_waited_for_is_awaited() -> None:
    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return number * 2

    def calls(number: int) -> int:
        return wait_for(double(wait_for(double(number))))

    async def main() -> int:
        return await run(calls, 3)

    assert asyncio.run(main()) == 12


def test_an_error_arrives_where_it_is_waited_for() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise KeyError("inside")

    def calls() -> str:
        try:
            wait_for(fail())
        except KeyError as error:
            return str(error)
        return "nothing"

    async def main() -> str:
        return await run(calls)

    assert asyncio.run(main()) == "'inside'"


def test_a_cancellation_arrives_where_it_is_waited_for() -> None:
    seen: list[str] = []

    def calls() -> None:
        try:
            wait_for(asyncio.sleep(60))
        except asyncio.CancelledError:
            seen.append("cancelled")
            # Cleaning up may wait too.
            wait_for(asyncio.sleep(0))
            seen.append("cleaned up")
            raise

    async def main() -> None:
        task = asyncio.create_task(run(calls))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == ["cancelled", "cleaned up"]


def test_nothing_waits_outside() -> None:
    with pytest.raises(RuntimeError, match="nothing runs here"):
        wait_for(asyncio.sleep(0))
