"""Facts taken apart: what shares no unknown can be solved by itself.

The rules of a message mostly speak of one field each. A solver that gets all of them at once tires of texts that have
nothing to do with the question.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from protocontract_ci.meaning.smt import z3

#: The names of unknowns (constants without a value) and of functions without a meaning that a term mentions.
Symbols: TypeAlias = tuple[frozenset[str], frozenset[str]]


class Parts:
    """Which facts belong together."""

    def __init__(self) -> None:
        self._symbols: dict[int, tuple[Any, Symbols]] = {}

    def symbols(self, term: Any) -> Symbols:
        """What a term mentions."""
        known = self._symbols.get(term.get_id())
        if known is not None:
            return known[1]
        unknowns: set[str] = set()
        functions: set[str] = set()
        waiting, seen = [term], {term.get_id()}
        while waiting:
            each = waiting.pop()
            if z3.is_app(each) and each.decl().kind() == z3.Z3_OP_UNINTERPRETED:
                (functions if each.num_args() else unknowns).add(each.decl().name())
            for child in each.children():
                if child.get_id() not in seen:
                    seen.add(child.get_id())
                    waiting.append(child)
        found = (frozenset(unknowns), frozenset(functions))
        # The term is kept: its id is another's once it is gone.
        self._symbols[term.get_id()] = (term, found)
        return found

    def unknowns(self, facts: Iterable[Any]) -> frozenset[str]:
        """The unknowns that facts mention."""
        return frozenset[str]().union(*(self.symbols(fact)[0] for fact in facts))

    def around(self, goal: Any, facts: Sequence[Any], *, steps: int | None = None) -> list[Any]:
        """The facts that share an unknown with ``goal``, directly or over others; over so many ``steps`` at most."""
        unknowns, functions = map(set, self.symbols(goal))
        left = [(fact, *self.symbols(fact)) for fact in facts]
        found: list[Any] = []
        while steps is None or steps > 0:
            near = [entry for entry in left if entry[1] & unknowns]
            if not near:
                break
            left = [entry for entry in left if not entry[1] & unknowns]
            for fact, names, used in near:
                found.append(fact)
                unknowns |= names
                functions |= used
            steps = None if steps is None else steps - 1
        # What is said of constants alone matters where its functions are asked of something else.
        return [*found, *(fact for fact, names, used in left if not names and used & functions)]

    def split(self, facts: Sequence[Any]) -> Iterator[list[Any]]:
        """The facts in groups that share no unknown; those of constants go to each group that uses their functions."""
        constants = [fact for fact in facts if not self.symbols(fact)[0]]
        groups: list[tuple[set[str], list[Any]]] = []
        for fact in facts:
            names = self.symbols(fact)[0]
            if not names:
                continue
            joined = [group for group in groups if group[0] & names]
            groups = [group for group in groups if not group[0] & names]
            merged = (set(names), [fact])
            for known, members in joined:
                merged[0].update(known)
                merged[1][:0] = members
            groups.append(merged)
        for _, members in groups:
            used = frozenset[str]().union(*(self.symbols(fact)[1] for fact in members))
            yield [*members, *(fact for fact in constants if self.symbols(fact)[1] & used)]


class Joined:
    """Models of several parts as one."""

    def __init__(self, parts: Parts, models: Iterable[tuple[frozenset[str], Any]]) -> None:
        self._parts = parts
        self._models: Final = list(models)

    def eval(self, term: Any, *, model_completion: bool = True) -> Any:
        """The value of a term in the model that knows its unknowns; the default of its sort in none."""
        names = self._parts.symbols(term)[0]
        for known, model in self._models:
            if known & names:
                return model.eval(term, model_completion=model_completion)
        return z3.simplify(z3.substitute(term, *_defaults(term, names))) if names else z3.simplify(term)


def _defaults(term: Any, names: frozenset[str]) -> list[tuple[Any, Any]]:
    found: dict[str, tuple[Any, Any]] = {}
    waiting = [term]
    while waiting:
        each = waiting.pop()
        if z3.is_app(each) and not each.num_args() and each.decl().name() in names:
            found[each.decl().name()] = (each, _default(each.sort()))
        waiting += each.children()
    return list(found.values())


def _default(sort: Any) -> Any:
    match sort.kind():
        case z3.Z3_BOOL_SORT:
            return z3.BoolVal(False)
        case z3.Z3_INT_SORT:
            return z3.IntVal(0)
        case z3.Z3_FLOATING_POINT_SORT:
            return z3.FPVal(0.0, sort)
        case _:
            return z3.StringVal("")
