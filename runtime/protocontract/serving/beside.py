"""Shadows: a version that runs beside the one that answers, when it has answered, and what is counted of the two."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from protocontract.models import BatchError, Draining
from protocontract.models.agreement import bfloat16_outputs, compare_runs, labelled_outputs
from protocontract.serving.versions import Running

if TYPE_CHECKING:
    from protocontract.serving.versions import Versions
    from protocontract.serving.watch import Ran, Seen

log: Final = logging.getLogger("protocontract.serving")


@dataclass(slots=True)
class Beside:
    """What came of a shadow so far: ``labels`` compared, ``same`` of them alike; ``max_abs`` is the largest difference
    of two numbers; ``failed`` by kind of error (``QueueFull``: it was too slow)."""

    rows: int = 0
    labels: int = 0
    same: int = 0
    max_abs: float = 0.0
    #: Requests with a label that is another one, or outputs of another shape.
    differing: int = 0
    requests: int = 0
    failed: dict[str, int] = field(default_factory=dict[str, int])


class Shadows:
    """Runs shadows for requests that were answered. They delay and fail nobody: nobody waits for them."""

    def __init__(self, versions: Versions) -> None:
        self._versions: Final = versions
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        #: By ``NAME@VERSION`` of the shadow.
        self.counts: Final[dict[str, Beside]] = {}

    def after(self, seen: Seen) -> None:
        """A request was answered: run its shadows."""
        for ran in seen.ran:
            shadow = self._versions.shadow(ran.route)
            if shadow is not None and shadow.engine is not ran.running.engine:
                task = asyncio.get_running_loop().create_task(self._run(seen.method, ran, shadow))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Wait for all that is running."""
        await asyncio.gather(*self._tasks)

    def close(self) -> None:
        """Give up what is running."""
        for task in self._tasks:
            task.cancel()

    async def _run(self, method: str, ran: Ran, shadow: Running) -> None:
        counts = self.counts.setdefault(str(shadow.spec), Beside())
        counts.requests += 1
        try:
            answer = await shadow.batchers[method, ran.route.field].submit(ran.inputs)
        except BatchError as error:
            kind = type(error).__name__
            counts.failed[kind] = counts.failed.get(kind, 0) + 1
            if counts.failed[kind] == 1 and not isinstance(error, Draining):
                log.warning("the shadow %s gave nothing: %s", shadow.spec, error)
            return
        assert ran.answer is not None
        found = compare_runs(
            [(answer.outputs, ran.answer.outputs)],
            tolerance=None,
            labelled=labelled_outputs(shadow.engine.signature),
            bfloat16=bfloat16_outputs(shadow.engine.signature),
        )
        counts.rows += found.rows
        counts.labels += found.labels
        counts.same += found.same
        counts.max_abs = max(counts.max_abs, found.max_abs)
        if found.reason or found.same < found.labels:
            counts.differing += 1
            # The first, the second, the fourth and so on: what all of them are is counted.
            if counts.differing & (counts.differing - 1) == 0:
                log.info(
                    "the shadow %s differs from %s: %d of %d labels alike, up to %.3g apart, in %d of %d requests%s",
                    shadow.spec,
                    ran.running.spec,
                    counts.same,
                    counts.labels,
                    counts.max_abs,
                    counts.differing,
                    counts.requests,
                    f"; {found.reason}" if found.reason else "",
                )
