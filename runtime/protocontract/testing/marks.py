"""Marks for the gate: functions that it may run although it would not do so by itself.

The gate reads the marks in the source and runs the functions in its own sandbox (docs/testing.md). At run time a mark
only keeps its options on the function, which stays as it is. Nothing here needs hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: Where a mark is kept on the function.
ATTRIBUTE: Final = "__protocontract_mark__"


@dataclass(frozen=True, slots=True)
class Mark:
    """What a mark says. ``arguments`` makes a call's arguments: of the message for a reader, of nothing else."""

    role: Literal["reader", "writer"]
    message: str
    arguments: Callable[..., tuple[Any, ...]] | None = None


def reader(message: str, *, arguments: Callable[[Any], tuple[Any, ...]] | None = None) -> Callable[[F], F]:
    """Mark a function that reads a message: the gate may call it with messages of that type.

    ``message`` is the full name, a literal, since the gate reads it in the source. Without ``arguments`` the function
    takes the message alone, as bytes where its parameter is annotated so; with it, ``arguments(message)`` gives the
    positional arguments.
    """
    return _marking(Mark("reader", message, arguments))


def writer(message: str, *, arguments: Callable[[], tuple[Any, ...]] | None = None) -> Callable[[F], F]:
    """Mark a function that makes a message and returns it, or its bytes: the gate may call it and validates the result.

    ``message`` as for ``reader``. Without ``arguments`` the function is called with values of the plain types that its
    parameters are annotated with; with it, ``arguments()`` gives the positional arguments.
    """
    return _marking(Mark("writer", message, arguments))


def mark_of(function: Callable[..., Any]) -> Mark | None:
    """The mark of a function, if it has one."""
    found = getattr(function, ATTRIBUTE, None)
    return found if isinstance(found, Mark) else None


def _marking(mark: Mark) -> Callable[[F], F]:
    def keep(function: F) -> F:
        setattr(function, ATTRIBUTE, mark)
        return function

    return keep
