"""Where the functions of the failure scenarios are entered, and what they share."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

SCENARIOS: dict[str, Callable[[], None]] = {}


def scenario(function: Callable[[], None]) -> Callable[[], None]:
    """Enter a scenario into the table under its function's name."""
    SCENARIOS[function.__name__.upper()] = function
    return function


def offsets(records: list[Any]) -> list[int]:
    """Their offsets."""
    return [record.offset for record in records]


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does, 10 seconds at most."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
