"""When batches start, and when callers are answered (S04, S05, S10, S14 of tests/cases/serving), in virtual time."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from protocontract.models import OutOfTime, QueueFull
from tests.models.echo import Bench, rows
from tests.models.virtual import VirtualLoop, virtually


def test_one_request_waits_and_no_longer() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        answer = await bench.submit(1)
        assert bench.answered == {1: 0.025}
        facts = answer.facts
        assert (facts.rows, facts.padding, facts.requests, facts.provider) == (1, 0, 1, "cpu")
        assert (facts.queue_ns, facts.batch_ns, facts.infer_ns) == (20_000_000, 5_000_000, 0)
        assert facts.texts() == {
            "model": "abc", "provider": "cpu", "batch_rows": "1", "batch_padding": "0", "batch_requests": "1",
        }  # fmt: skip

    virtually(test)


def test_a_full_batch_does_not_wait_and_the_next_ones_wait_is_its_own() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, 4.0, max_wait=10.0)
        for number in range(8):
            bench.submit(number)
        assert bench.batcher.running == 8
        await asyncio.sleep(3)
        await asyncio.wait([bench.submit(8)])
        assert bench.answered == {**dict.fromkeys(range(8), 4.0), 8: 3 + 10 + 4.0}

    virtually(test)


def test_who_came_while_the_model_ran_has_waited() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, 1.0)
        first = [bench.submit(number, 4) for number in range(2)]
        await asyncio.sleep(0.5)
        later = [bench.submit(number, 3) for number in (2, 3, 4)]  # the last does not fit
        await asyncio.wait([*first, *later])
        assert bench.seen() == [[0] * 4 + [1] * 4, [2] * 3 + [3] * 3, [4] * 3]
        assert bench.answered == {0: 1.0, 1: 1.0, 2: 2.0, 3: 2.0, 4: 3.0}

    virtually(test)


def test_several_full_batches_run_one_after_another() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, 1.0, max_wait=60.0)
        await asyncio.wait([bench.submit(number, 4) for number in range(8)])
        assert list(bench.answered.values()) == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]

    virtually(test)


def test_the_oldest_goes_first_among_kinds() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, 1.0)
        callers = [bench.submit(0, 8)]
        callers += [bench.submit(1, 1, width=3)]
        callers += [bench.submit(number, 8) for number in (2, 3)]
        await asyncio.wait(callers)
        assert bench.seen() == [[0] * 8, [1], [2] * 8, [3] * 8]

    virtually(test)


def test_no_wait_at_all() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, max_wait=0)
        await bench.submit(1)
        assert bench.answered == {1: 0.005}

    virtually(test)


@pytest.mark.parametrize("busy", [True, False])
def test_a_deadline_in_the_queue(busy: bool) -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, 1.0)
        first = [bench.submit(0, 8)] if busy else []
        caller = bench.submit(1, within=0.01)
        other = bench.submit(2)
        with pytest.raises(OutOfTime, match="in the queue, before anything was run") as error:
            await caller
        assert bench.answered == {1: 0.01}
        assert (error.value.code, error.value.started) == ("DEADLINE_EXCEEDED", False)
        await asyncio.wait([*first, other])
        assert bench.seen() == ([[0] * 8, [2]] if busy else [[2]])

    virtually(test)


def test_the_wait_of_who_was_second_does_not_end_with_the_first() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        bench.submit(1, within=0.015)
        await asyncio.sleep(0.01)
        await bench.submit(2)
        assert bench.answered == {1: 0.015, 2: 0.035}

    virtually(test)


# Closer to each other than the loop's clock can tell: what is due then is done in one turn of the loop.
ONE_TURN = 1e-10


def test_who_cancels_when_its_wait_ends_starts_nothing() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        first = bench.submit(1)
        loop.call_at(0.02 - ONE_TURN, first.cancel)
        await asyncio.sleep(0.01)
        await bench.submit(2)
        assert bench.answered == {1: 0.02, 2: 0.035}

    virtually(test)


def test_who_cancels_when_its_batch_starts_is_not_in_it() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        first, second = bench.submit(1), bench.submit(2)
        loop.call_at(0.02 - ONE_TURN, second.cancel)
        await first
        assert bench.seen() == [[1]]

    virtually(test)


def test_who_is_late_and_cancelled_starts_nothing() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        first = bench.submit(1)
        await asyncio.sleep(0.01)
        second = bench.submit(2)
        loop.now = 0.025  # held up: the first one's wait is over
        first.cancel()
        await asyncio.wait([second, bench.submit(3)])
        assert bench.answered == {1: 0.025, 2: 0.035, 3: 0.035}

    virtually(test)


def test_who_cancels_when_its_batch_could_start_leaves_it_not_full() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, 1.0, max_wait=10.0)
        bench.submit(0, 8)
        second, third = bench.submit(1, 4), bench.submit(2, 4)
        loop.call_at(1.0 + ONE_TURN, third.cancel)
        await second
        assert bench.answered == {0: 1.0, 2: 1.0, 1: 11.0}

    virtually(test)


def test_a_deadline_in_the_model() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, 1.0)
        caller, other = bench.submit(1, 4, within=0.3), bench.submit(2, 4)
        with pytest.raises(OutOfTime, match="while its batch ran") as error:
            await caller
        assert (bench.answered, error.value.started) == ({1: 0.3}, True)
        assert np.array_equal((await other).outputs["y"], rows(2, 4))

    virtually(test)


def test_a_model_that_hangs_keeps_nobody() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop, None, max_deadline=2.0, queue=2)
        callers = [bench.submit(0, 8), bench.submit(1), bench.submit(2, within=50)]
        with pytest.raises(QueueFull):
            bench.submit(3)
        found = await asyncio.gather(*callers, return_exceptions=True)
        assert [type(each) for each in found] == [OutOfTime] * 3
        assert bench.answered == {0: 2.0, 1: 2.0, 2: 2.0}

    virtually(test)


def test_a_loop_that_was_held_up_runs_nobody_too_late() -> None:
    async def test(loop: VirtualLoop) -> None:
        bench = Bench(loop)
        callers = [bench.submit(1, 4, within=0.01), bench.submit(2, 3)]
        loop.now += 5  # no timer was looked at
        callers.append(bench.submit(3))  # fills the batch
        found = await asyncio.gather(*callers, return_exceptions=True)
        assert isinstance(found[0], OutOfTime)
        assert bench.seen() == [[2, 2, 2, 3]]

    virtually(test)
