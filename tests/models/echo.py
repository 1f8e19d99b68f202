"""A model that echoes whose rows it gets, and a batcher of it in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np

from protocontract.models import Batcher, Ran
from tests.models.virtual import VirtualLoop, VirtualRunner


class Echo:
    """A model that gives back what it gets, and remembers it."""

    def __init__(self) -> None:
        self.batches: list[Any] = []
        #: How many rows more (or, negative, fewer) the next batches have in their answers.
        self.more: list[int] = []

    def __call__(self, inputs: Mapping[str, Any]) -> Ran:
        """The input x as the output y."""
        rows = inputs["x"]
        self.batches.append(rows.copy())
        more = self.more.pop(0) if self.more else 0
        rows = rows[:more] if more < 0 else np.concatenate([rows, rows[:more]])
        return Ran({"y": rows}, "cpu", {"model": "abc"})


class Bench:
    """A batcher of an echo in virtual time."""

    def __init__(self, loop: VirtualLoop, seconds: float | None = 0.005, **options: Any) -> None:
        self.loop = loop
        self.echo = Echo()
        self.runner = VirtualRunner(loop, seconds)
        self.batcher = Batcher(
            self.echo,
            **{"max_size": 8, "max_wait": 0.02, "queue": 100, **options},
            runner=self.runner,
            clock=lambda: round(loop.now * 1e9),
        )
        self.answered: dict[int, float] = {}

    def submit(self, number: int, count: int = 1, within: float | None = None, width: int = 2) -> asyncio.Future[Any]:
        """A caller with ``count`` rows of its number."""
        deadline = None if within is None else self.loop.now + within
        future = self.batcher.submit({"x": rows(number, count, width)}, deadline)
        future.add_done_callback(lambda _: self.answered.setdefault(number, round(self.loop.now, 9)))
        return future

    def seen(self) -> list[list[int]]:
        """Whose rows were in each batch."""
        return [batch[:, 0].tolist() for batch in self.echo.batches]


def rows(number: int, count: int, width: int = 2) -> np.ndarray[Any, Any]:
    """Rows that say whose they are, and which."""
    made = np.full((count, width), number, dtype="int64")
    made[:, -1] = np.arange(count)
    return made
