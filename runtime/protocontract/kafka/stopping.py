"""How commands over a topic are told to end: SIGTERM and SIGINT, the second of which does not wait."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_KINDS: Final = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def stopped_by_signals(stop: Callable[[], object] = lambda: None) -> Iterator[list[int]]:
    """A list of the signals received. The first one calls ``stop``; the second one ends the process at once."""
    received: list[int] = []
    before = {kind: signal.getsignal(kind) for kind in _KINDS}

    def receive(number: int, _frame: object) -> None:
        received.append(number)
        stop()
        for kind in _KINDS:
            signal.signal(kind, signal.SIG_DFL)

    for kind in _KINDS:
        signal.signal(kind, receive)
    try:
        yield received
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
