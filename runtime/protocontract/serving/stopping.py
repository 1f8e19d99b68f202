"""How a process with one event loop is asked to stop."""

from __future__ import annotations

import asyncio
import signal
from typing import Final

_NUMBERS: Final = (signal.SIGTERM, signal.SIGINT)


class Stop(asyncio.Event):
    """Set by the first SIGTERM or SIGINT; a second one ends the process at once. Made on the running loop."""

    def __init__(self) -> None:
        super().__init__()
        #: Whether it was SIGINT.
        self.interrupted = False
        self._loop: Final = asyncio.get_running_loop()
        for number in _NUMBERS:
            self._loop.add_signal_handler(number, self.ask, number)

    def ask(self, number: int = signal.SIGTERM) -> None:
        """As if the signal had come."""
        self.interrupted |= number == signal.SIGINT
        self.set()
        for each in _NUMBERS:
            self._loop.remove_signal_handler(each)
            signal.signal(each, signal.SIG_DFL)
