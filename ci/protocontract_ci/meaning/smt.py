"""z3, the solver. It has no annotations, so its terms are Any everywhere; this is the one place that imports it."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

z3: Final[Any] = import_module("z3")

#: Work of one question, in z3's own measure, so that the answer does not depend on the machine; seconds as a net.
_EFFORT: Final = 1_500_000
_MILLISECONDS: Final = 120_000


class Solver:
    """A solver whose answers depend on nothing but what it was told.

    z3 orders terms by numbers, which a context gives out as terms are made: in one context for all, what a process has
    solved before would decide whether a hard question has an answer. So each solver has a context of its own.
    """

    def __init__(self) -> None:
        self._context: Final = z3.Context()
        self._solver: Final = z3.Solver(ctx=self._context)
        self._solver.set("rlimit", _EFFORT)
        self._solver.set("timeout", _MILLISECONDS)

    def add(self, *facts: Any) -> None:
        """Tell it facts."""
        self._solver.add(*(fact.translate(self._context) for fact in facts))

    def push(self) -> None:
        """Begin what ``pop`` forgets."""
        self._solver.push()

    def pop(self) -> None:
        """Forget what it was told since the last ``push``."""
        self._solver.pop()

    def check(self) -> Any:
        """``z3.sat``, ``z3.unsat`` or ``z3.unknown``."""
        return self._solver.check()

    def model(self) -> Any:
        """The model of the last check, which was ``z3.sat``."""
        return self._solver.model().translate(z3.main_ctx())


def simplified(term: Any) -> Any:
    """A simpler form, the same whatever was made before, for the reason that ``Solver`` gives."""
    return z3.simplify(term.translate(z3.Context())).translate(z3.main_ctx())
