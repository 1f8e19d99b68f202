"""Items that name their parents: identities are unique, parents exist, nothing is its own ancestor. Linear time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Final

from protocontract.violations import Refusal, Refused, describe

_Checker = Callable[..., "list[Refusal] | None"]
_Edges = list[list[int]]


def check(ids: Iterable[Hashable], parents: Iterable[Any], *, acyclic: bool = False, closed: bool = False) -> None:
    """Raise Refused for the first item that breaks the graph; ``index`` is its place.

    ``parents`` holds, for each item, an iterable of identities, or one identity (a text or a number) or None.
    One identity that is the empty value ("" or 0) and names no other item is "no parent", as in a field without
    presence. Raises Refused: graph.duplicate (an identity that occurs twice), graph.missing (``closed``: a parent that
    is no item), graph.cycle (``acyclic``).
    """
    found = checker(acyclic=acyclic, closed=closed)(ids, parents)
    if found:
        raise Refused.of(found[0])


def checker(*, acyclic: bool = False, closed: bool = False) -> _Checker:
    """The non-raising twin: ``(ids, parents) -> list[Refusal] | None``, all breaks by the index of the item.

    ``ids``: identities in list order. ``parents``: for each item a repeated field, a list, or one identity or None.
    """

    def find(ids: Iterable[Hashable], parents: Iterable[Any]) -> list[Refusal] | None:
        names, given, unfit = _listed(ids, parents)
        if unfit is not None:
            return [unfit]
        places: dict[Hashable, int] = {}
        found: list[Refusal] = []
        for at, name in enumerate(names):
            first = places.setdefault(name, at)
            if first != at:
                found.append(Refusal("graph.duplicate", f"an identity that item {first} has too", at))
        edges, missing = _edges(names, given, places)
        if closed:
            found.extend(
                Refusal("graph.missing", "a parent that is no item; expected one of the list", at) for at in missing
            )
        if acyclic:
            found.extend(
                Refusal("graph.cycle", "an item that is among its own ancestors", at) for at in _closing(edges)
            )
        if not found:
            return None
        found.sort(key=_index)
        return found

    return find


def _listed(ids: Any, parents: Any) -> tuple[list[Hashable], list[Any], Refusal | None]:
    """Identities and parents as lists; a refusal where they are none, or where one is no identity (a list, a dict)."""
    for value in (ids, parents):
        if not isinstance(value, Iterable):
            return [], [], Refusal("graph.missing", f"no list; expected items and their parents, got {describe(value)}")
    names: list[Any] = list(ids)
    rows: list[Any] = list(parents)
    for at, name in enumerate(names):
        if not isinstance(name, Hashable):
            return [], [], Refusal("graph.missing", f"no identity; expected a text or number, got {describe(name)}", at)
    for at, row in enumerate(rows):
        if row is None or isinstance(row, str | bytes | int):
            continue
        if not isinstance(row, Iterable):
            return [], [], Refusal("graph.missing", f"no parents; expected a list, got {describe(row)}", at)
        rows[at] = list(row)
        for parent in rows[at]:
            if not isinstance(parent, Hashable):
                wrong = f"no identity; expected a text or number, got {describe(parent)}"
                return [], [], Refusal("graph.missing", wrong, at)
    return names, rows, None


def _index(refusal: Refusal) -> int:
    return refusal.index or 0


def _edges(names: list[Hashable], parents: list[Any], places: dict[Hashable, int]) -> tuple[_Edges, list[int]]:
    """For each item the places of its parents, and the items with a parent that does not exist (once each)."""
    edges: _Edges = []
    missing: list[int] = []
    for at, name in enumerate(names):
        given = parents[at] if at < len(parents) else None
        own: list[int] = []
        if given is None:
            pass
        elif isinstance(given, str | bytes | int):
            place = places.get(given)
            if given or (place is not None and given != name):
                if place is None:
                    missing.append(at)
                else:
                    own.append(place)
        else:
            lost = False
            for parent in given:
                place = places.get(parent)
                if place is None:
                    lost = True
                else:
                    own.append(place)
            if lost:
                missing.append(at)
        edges.append(own)
    return edges, missing


_UNSEEN: Final = 0
_OPEN: Final = 1
_DONE: Final = 2


def _closing(edges: _Edges) -> list[int]:
    """The items whose edge closes a cycle, in list order of discovery: depth first, on a stack of our own."""
    # Plain numbers instead of a stack of iterators: 100,000 of those would keep the garbage collector busy.
    state = bytearray(len(edges))
    walked = [0] * len(edges)
    closing: dict[int, None] = {}
    for root in range(len(edges)):
        if state[root] != _UNSEEN:
            continue
        state[root] = _OPEN
        stack = [root]
        while stack:
            at = stack[-1]
            own, step = edges[at], walked[at]
            if step == len(own):
                state[at] = _DONE
                stack.pop()
                continue
            walked[at] = step + 1
            parent = own[step]
            if state[parent] == _UNSEEN:
                state[parent] = _OPEN
                stack.append(parent)
            elif state[parent] == _OPEN:
                closing[at] = None
    return list(closing)
