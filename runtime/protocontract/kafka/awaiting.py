"""Code that waits by calls, run by a coroutine: a call of ``wait_for`` deep inside becomes an ``await`` of its own.

So there is one guard for both kinds of client, and no thread: the calling code stands still in a greenlet while the
event loop goes on, and a cancellation arrives in it as an exception of ``wait_for``.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar, cast

from protocontract.violations import MissingExtra

try:
    from greenlet import getcurrent, greenlet
except ImportError as error:
    raise MissingExtra("protocontract.kafka.AsyncGuard", "greenlet", "aiokafka") from error

R = TypeVar("R")


class _Calls(greenlet):  # type: ignore[misc]  # an untyped base class
    """The greenlet in which code of ``run`` runs. Its parent is the coroutine's."""


async def run(function: Callable[..., R], *arguments: Any) -> R:
    """Call ``function`` here and await what it gives to ``wait_for``. Raises what it raises."""
    calls = _Calls(function)
    # Context variables are the task's, in there too.
    calls.gr_context = getcurrent().gr_context
    found = calls.switch(*arguments)
    while not calls.dead:
        try:
            result = await found
        except BaseException as error:
            # Also a cancellation: the function decides what it does before it ends.
            found = calls.throw(error)
        else:
            found = calls.switch(result)
    return cast(R, found)


def wait_for(awaitable: Coroutine[Any, Any, R]) -> R:
    """What the coroutine returns. Only below ``run``."""
    current = getcurrent()
    if not isinstance(current, _Calls) or current.parent is None:
        awaitable.close()
        raise RuntimeError("nothing runs here that could be waited with")
    return cast(R, current.parent.switch(awaitable))
