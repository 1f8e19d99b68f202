"""What a partial validation changes about evaluation: the clock, and what happens to rules without a result.

Context variables, so that threads and tasks do not see each other's. Nothing here is looked at before the first partial
validation of a process, or before a rule fails to evaluate.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from protocontract.violations import RuleEvaluationError

_now: ContextVar[int | None] = ContextVar("protocontract_now", default=None)
_collecting: ContextVar[bool] = ContextVar("protocontract_collecting", default=False)

#: Whether any clock was ever given: until then reading the clock costs no look-up of a context variable.
clock_was_given = False


class NoResult:
    """Stands for the value of a violation while nobody knows yet whether its rule counts: it could not be evaluated.

    ``anywhere`` says that any rule of the message at the violation's path may have failed.
    """

    __slots__ = ("anywhere", "error")

    def __init__(self, error: RuleEvaluationError, *, anywhere: bool = False) -> None:
        self.error: Final = error
        self.anywhere: Final = anywhere


def given_now() -> int | None:
    """The moment that is taken for now, in nanoseconds since the epoch; None where it is the clock's."""
    return _now.get()


def collecting() -> bool:
    """Whether rules without a result are collected instead of ending the validation."""
    return _collecting.get()


@contextmanager
def scope(now: int | None) -> Iterator[None]:
    """Within it, CEL's ``now`` is ``now`` (None: as before), and rules without a result are collected."""
    global clock_was_given
    if now is not None:
        clock_was_given = True
    moment = _now.set(_now.get() if now is None else now)
    collect = _collecting.set(True)
    try:
        yield
    finally:
        _collecting.reset(collect)
        _now.reset(moment)
