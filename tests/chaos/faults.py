"""What goes wrong, one function each, and in which order."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from tests.chaos.run import Run

Fault = Callable[["Run", str], None]

#: By name, in the order in which they are described. Each is given the guard that it is about.
FAULTS: Final[dict[str, Fault]] = {}
#: What each is, for the report.
MEANINGS: Final[dict[str, str]] = {}
#: Those of a short run.
FEW: Final = ("guard-killed", "zombie", "broker-killed", "cut", "slow")


class Act(NamedTuple):
    """A fault in the run: which, about which guard, and at which part of its portion of the records."""

    fault: str
    guard: str
    share: float


def plan(seed: int, guards: list[str], faults: list[str]) -> list[Act]:
    """Every fault once, in an order and about guards that follow from the seed."""
    source = random.Random(seed)
    order = source.sample(faults, len(faults))
    return [Act(fault, source.choice(guards), source.uniform(0.3, 0.7)) for fault in order]


def _fault(name: str) -> Callable[[Fault], Fault]:
    def enter(function: Fault) -> Fault:
        FAULTS[name] = function
        MEANINGS[name] = (function.__doc__ or "").strip().rstrip(".")
        return function

    return enter


@_fault("guard-killed")
def _guard_killed(run: Run, guard: str) -> None:
    """A guard is killed and started again at once."""
    run.fleet.kill(guard)
    run.fleet.start([guard])


@_fault("guard-replaced")
def _guard_replaced(run: Run, guard: str) -> None:
    """A guard is killed and started again when the others have its partitions."""
    run.fleet.kill(guard)
    run.until_without(guard)
    run.fleet.start([guard])


@_fault("two-killed")
def _two_killed(run: Run, guard: str) -> None:
    """Two guards are killed at once and started again."""
    others = [name for name in run.fleet.names if name != guard]
    for name in others:
        run.fleet.kill(name)
    run.fleet.start(others)


@_fault("zombie")
def _zombie(run: Run, guard: str) -> None:
    """A guard is stopped past its session timeout, and goes on when the others have its partitions and work."""
    run.fleet.freeze(guard)
    try:
        run.until_without(guard)
        run.until_moved(200)
    finally:
        run.fleet.thaw(guard)


@_fault("isolated")
def _isolated(run: Run, guard: str) -> None:
    """Nothing gets through to a guard or from it until the others have its partitions; then its connections end."""
    for stream in ("upstream", "downstream"):
        run.proxy.poison(guard, "timeout", stream, timeout=0)
    run.until_without(guard)
    run.proxy.cut(guard)
    run.proxy.mend(guard)


@_fault("rolled")
def _rolled(run: Run, guard: str) -> None:
    """A guard is told to end, and started again."""
    run.told(run.fleet.terminate([guard]), expected=(0,))
    run.fleet.start([guard])


@_fault("broker-killed")
def _broker_killed(run: Run, guard: str) -> None:
    """The broker is killed and started again."""
    run.broker.kill()
    run.broker.start()


@_fault("broker-restarted")
def _broker_restarted(run: Run, guard: str) -> None:
    """The broker is shut down and started again."""
    run.broker.stop()
    run.broker.start()


@_fault("broker-paused")
def _broker_paused(run: Run, guard: str) -> None:
    """The broker is stopped past the session timeout and goes on."""
    run.broker.signal(signal.SIGSTOP)
    try:
        time.sleep(run.session_timeout + 2.0)
    finally:
        run.broker.signal(signal.SIGCONT)


@_fault("both-killed")
def _both_killed(run: Run, guard: str) -> None:
    """A guard and the broker are killed; the guard is started while the broker is still away."""
    run.fleet.kill(guard)
    run.broker.kill()
    run.fleet.start([guard])
    run.broker.start()


@_fault("cut")
def _cut(run: Run, guard: str) -> None:
    """All connections of all guards end, twice, and are refused for a second."""
    for _ in range(2):
        for name in run.fleet.names:
            run.proxy.cut(name)
        time.sleep(1.0)
        for name in run.fleet.names:
            run.proxy.mend(name)
        run.until_moved(200)


@_fault("reset")
def _reset(run: Run, guard: str) -> None:
    """A guard's connections are reset, answers on their way are lost."""
    for _ in range(3):
        run.proxy.poison(guard, "reset_peer", timeout=0)
        run.proxy.poison(guard, "reset_peer", "upstream", timeout=0)
        time.sleep(0.3)
        run.proxy.mend(guard)
        run.until_moved(100)


@_fault("slow")
def _slow(run: Run, guard: str) -> None:
    """Every connection has 300 ms of latency, with jitter, and 300 kB/s."""
    for name in run.fleet.names:
        for stream in ("upstream", "downstream"):
            run.proxy.poison(name, "latency", stream, latency=300, jitter=150)
            run.proxy.poison(name, "bandwidth", stream, rate=300)
    run.until_moved(1_500)
    for name in run.fleet.names:
        run.proxy.mend(name)


@_fault("limited")
def _limited(run: Run, guard: str) -> None:
    """Each connection of a guard ends after 300 kB, in the middle of whatever it carries."""
    for stream in ("upstream", "downstream"):
        run.proxy.poison(guard, "limit_data", stream, bytes=300_000)
    run.until_moved(3_000)
    run.proxy.mend(guard)


@_fault("sliced")
def _sliced(run: Run, guard: str) -> None:
    """What a guard sends and gets comes in slices of about 500 bytes."""
    for stream in ("upstream", "downstream"):
        run.proxy.poison(guard, "slicer", stream, average_size=500, size_variation=300, delay=20)
    run.until_moved(2_000)
    run.proxy.mend(guard)
