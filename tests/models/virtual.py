"""An event loop whose clock stands still while anything is to be done, and then jumps to the next timer."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """``time()`` starts at 0. A loop that waits for nothing that will come fails, where a real one would hang."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        """Seconds, by the timers that fired."""
        return self.now


class _Jumping(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        """What is ready now; if nothing is, the clock goes on by ``timeout``."""
        ready = super().select(0)
        if not ready and timeout is None:
            raise AssertionError("nothing will happen any more")
        if not ready and timeout is not None:
            self._loop.now += timeout
        return ready


class VirtualRunner:
    """Runs batches on the loop; each takes ``seconds``, or for ever where that is None."""

    def __init__(self, loop: VirtualLoop, seconds: float | None) -> None:
        self._loop = loop
        self.seconds = seconds
        self.stopped = False

    def start(self, work: Callable[[], None]) -> None:
        """Do it when its time is over."""
        if self.seconds is not None:
            self._loop.call_later(self.seconds, work)

    def stop(self) -> None:
        """Remember it."""
        self.stopped = True


def virtually(test: Callable[[VirtualLoop], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on a loop of its own."""
    loop = VirtualLoop()
    try:
        return loop.run_until_complete(test(loop))
    finally:
        loop.close()
