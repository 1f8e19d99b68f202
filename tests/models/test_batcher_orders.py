"""Whatever comes in whatever order: each caller has its own rows, or an error at the moment at which it is due."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.models import BatchFailed, OutOfTime, QueueFull, Ran, WrongRows
from protocontract.models.batcher import Batcher
from tests.models.echo import rows
from tests.models.virtual import VirtualLoop, VirtualRunner, virtually

MAX_SIZE, MAX_WAIT, QUEUE = 4, 8.0, 6

# Whole seconds, so that deadlines, waits and ends of batches meet at the same moment, again and again.
submits = st.tuples(
    st.just("submit"), st.integers(1, MAX_SIZE), st.sampled_from([2, 3]), st.sampled_from([None, 1, 3, 8, 12])
)
cancels = st.tuples(st.just("cancel"), st.integers(0, 30))
sleeps = st.tuples(st.just("sleep"), st.sampled_from([0, 1, 2, 5, 8]))
actions = st.lists(st.one_of(submits, submits, cancels, sleeps), min_size=1, max_size=30)
outcomes = st.lists(st.sampled_from(["well", "well", "fewer", "more", "raises"]), max_size=6)


@dataclass
class Caller:
    rows: Any
    since: float
    deadline: float | None
    future: asyncio.Future[Any]
    cancelled: float | None = None
    ended: float = -1.0


@dataclass
class World:
    """What happened: batches with the time at which they started, their rows, and how they went."""

    loop: VirtualLoop
    seconds: float
    outcomes: list[str]
    callers: list[Caller] = field(default_factory=list[Caller])
    batches: list[tuple[float, Any, str]] = field(default_factory=list[tuple[float, Any, str]])

    def run(self, inputs: Any) -> Ran:
        """The model: rows as they are, or one row wrong, or nothing."""
        given = inputs["x"]
        outcome = self.outcomes.pop(0) if self.outcomes else "well"
        self.batches.append((self.loop.now - self.seconds, given.copy(), outcome))
        if outcome == "raises":
            raise ValueError
        if outcome == "fewer":
            return Ran({"y": given[:-1]}, "cpu", {})
        return Ran({"y": np.concatenate([given, given[:1]]) if outcome == "more" else given}, "cpu", {})


async def play(world: World, steps: list[Any]) -> None:
    loop = world.loop
    batcher = Batcher(
        world.run, max_size=MAX_SIZE, max_wait=MAX_WAIT, queue=QUEUE, runner=VirtualRunner(loop, world.seconds),
        clock=lambda: round(loop.now * 1e9),
    )  # fmt: skip
    for step in steps:
        if step[0] == "submit":
            _, count, width, within = step
            deadline = None if within is None else loop.now + within
            given = rows(len(world.callers), count, width)
            try:
                future = batcher.submit({"x": given}, deadline)
            except QueueFull:
                assert batcher.waiting == QUEUE
                continue
            caller = Caller(given, loop.now, deadline, future)
            future.add_done_callback(lambda _, caller=caller: setattr(caller, "ended", loop.now))  # type: ignore[misc]
            world.callers.append(caller)
        elif step[0] == "cancel":
            if step[1] < len(world.callers) and world.callers[step[1]].future.cancel():
                world.callers[step[1]].cancelled = loop.now
        else:
            await asyncio.sleep(step[1])
        assert batcher.waiting <= QUEUE
    if world.callers:
        await asyncio.wait([caller.future for caller in world.callers])
    while batcher.running:  # for nobody, perhaps: draining would not wait for it
        await asyncio.sleep(world.seconds)
    assert await batcher.drain(100) == 0
    assert (batcher.waiting, batcher.running) == (0, 0)


@settings(max_examples=300, deadline=None)
@given(actions, outcomes, st.sampled_from([1.0, 3.0, 20.0]))
def test_orders(steps: list[Any], how: list[str], seconds: float) -> None:
    world: list[World] = []

    async def test(loop: VirtualLoop) -> None:
        world.append(World(loop, seconds, list(how)))
        await play(world[0], steps)

    virtually(test)
    judge(world[0])


def judge(world: World) -> None:
    """Hold what happened to what was promised."""
    in_batch: dict[int, int] = {}
    free = 0.0
    for at, (started, held, _) in enumerate(world.batches):
        numbers = list(dict.fromkeys(held[:, 0].tolist()))
        assert len(held) <= MAX_SIZE
        assert started >= free, "one batch at a time"
        free = started + world.seconds
        # Whole requests, in the order in which they came, each in one batch.
        assert np.array_equal(held, np.concatenate([world.callers[number].rows for number in numbers]))
        assert numbers == sorted(numbers)
        for number in numbers:
            assert number not in in_batch
            in_batch[number] = at
    for number, caller in enumerate(world.callers):
        in_time = caller.deadline is None or caller.ended <= caller.deadline
        batch = world.batches[in_batch[number]] if number in in_batch else None
        if batch is not None:
            assert caller.cancelled is None or caller.cancelled >= batch[0], "cancelled before, and run"
            assert caller.deadline is None or caller.deadline > batch[0], "too late, and run"
        if caller.future.cancelled():
            continue
        assert in_time
        error = caller.future.exception()
        if isinstance(error, OutOfTime):
            assert caller.ended == caller.deadline
            assert error.started == (batch is not None)
            continue
        assert batch is not None
        started, held, outcome = batch
        assert caller.ended == started + world.seconds
        if outcome == "well":
            assert error is None
            answer = caller.future.result()
            assert np.array_equal(answer.outputs["y"], caller.rows)
            assert (answer.facts.rows, answer.facts.queue_ns) == (len(held), (started - caller.since) * 1e9)
        else:
            assert isinstance(error, BatchFailed if outcome == "raises" else WrongRows)
    never_another_wait(world)


def never_another_wait(world: World) -> None:
    """While the model is free, nobody waits longer than MAX_WAIT; and no batch starts before it is full or due."""
    free = 0.0
    for started, held, _ in world.batches:
        numbers = held[:, 0].tolist()
        due = min(world.callers[number].since for number in numbers) + MAX_WAIT
        assert started <= max(free, due)
        if started < due and len(held) < MAX_SIZE:
            # Full all the same: the next request of its kind did not fit.
            assert any(
                caller.rows.shape[1] == held.shape[1]
                and len(held) + len(caller.rows) > MAX_SIZE
                and caller.since <= started
                for caller in world.callers[max(numbers) + 1 :]
            )
        free = started + world.seconds
