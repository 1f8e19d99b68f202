"""Which texts patterns match, compared: inclusion with a shortest witness.

A rule's pattern matches a text where it matches somewhere in it, as RE2's search does. Both patterns run over the same
text as deterministic automata that are made while they are needed; a breadth-first search over pairs of their states
finds the shortest text that tells them apart, or proves that there is none.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from protocontract_ci.meaning import syntax
from protocontract_ci.meaning.syntax import LAST, Ranges, Unsupported

#: What stands before a place of the text, and after it: the end, a line break, a letter of a word, anything else.
Neighbour: TypeAlias = Literal["end", "newline", "word", "other"]

_WORD: Final[Ranges] = ((48, 57), (65, 90), (95, 95), (97, 122))
_NEWLINE: Final[Ranges] = ((10, 10),)
_SURROGATES: Final = (0xD800, 0xDFFF)
#: Which code point stands for a class in a witness: one that a reader can see.
_READABLE: Final = "a0A _-.@/:,x"
_MOST_NODES: Final = 20_000
#: Most pairs of states that are looked at: the limit that decides, for it is the same on every machine.
_MOST_STATES: Final = 30_000


@dataclass(frozen=True, slots=True)
class Answer:
    """``holds`` is None where neither a proof nor a witness was found; ``witness`` is a text that shows that not."""

    holds: bool | None
    witness: str | None = None


def find(wanted: Callable[[tuple[bool, ...]], bool], patterns: Sequence[str], *, seconds: float = 10.0) -> Answer:
    """A shortest text for whose matches (a bool for each pattern) ``wanted`` is true.

    Answer(False, text) where there is one, Answer(True) where it is proved that there is none.
    """
    try:
        machines = [_machine(pattern) for pattern in patterns]
    except Unsupported:
        return Answer(None)
    return _search(machines, wanted, time.monotonic() + seconds)


def implies(stronger: str, weaker: str, *, seconds: float = 10.0) -> Answer:
    """Whether every text that ``stronger`` matches is matched by ``weaker``."""
    return find(lambda matched: matched[0] and not matched[1], (stronger, weaker), seconds=seconds)


# ----------------------------------------------------------------------------------------------------------------------
# One pattern as a non-deterministic automaton


class _Machine:
    """Thompson's construction. A node has moves over sets, free moves, and free moves under a condition."""

    def __init__(self, pattern: str) -> None:
        self.moves: list[tuple[Ranges, int] | None] = []
        self.free: list[list[int]] = []
        self.conditions: list[tuple[syntax.Assertion, int] | None] = []
        self.end = self._node()
        self.start = self._build(syntax.parse(pattern), self.end)
        self.sets = {move[0] for move in self.moves if move is not None}

    def _node(self) -> int:
        if len(self.moves) >= _MOST_NODES:
            raise Unsupported("too large")
        self.moves.append(None)
        self.free.append([])
        self.conditions.append(None)
        return len(self.moves) - 1

    def _build(self, node: syntax.Node, after: int) -> int:
        """The node from which the tree, then ``after``, is matched."""
        match node:
            case syntax.Chars():
                here = self._node()
                self.moves[here] = (node.ranges, after)
                return here
            case syntax.Assert():
                here = self._node()
                self.conditions[here] = (node.kind, after)
                return here
            case syntax.Sequence():
                for part in reversed(node.parts):
                    after = self._build(part, after)
                return after
            case syntax.Choice():
                here = self._node()
                self.free[here] = [self._build(part, after) for part in node.parts]
                return here
            case syntax.Repeat():
                return self._repeat(node, after)

    def _repeat(self, node: syntax.Repeat, after: int) -> int:
        if node.high is None:
            loop = self._node()
            self.free[loop] = [self._build(node.part, loop), after]
            after = loop
        else:
            end = after
            for _ in range(node.high - node.low):
                here = self._node()
                self.free[here] = [self._build(node.part, after), end]
                after = here
        for _ in range(node.low):
            after = self._build(node.part, after)
        return after

    def closure(self, nodes: frozenset[int], before: Neighbour, following: Neighbour) -> frozenset[int]:
        """All nodes that are reached without a code point, between these neighbours."""
        found = set(nodes)
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            onward = list(self.free[node])
            condition = self.conditions[node]
            if condition is not None and _holds(condition[0], before, following):
                onward.append(condition[1])
            for target in onward:
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return frozenset(found)


def _holds(kind: syntax.Assertion, before: Neighbour, following: Neighbour) -> bool:
    match kind:
        case "begin_text":
            return before == "end"
        case "end_text":
            return following == "end"
        case "begin_line":
            return before in ("end", "newline")
        case "end_line":
            return following in ("end", "newline")
        case "word":
            return (before == "word") != (following == "word")
        case "not_word":
            return (before == "word") == (following == "word")


@lru_cache(maxsize=512)
def _machine(pattern: str) -> _Machine:
    return _Machine(pattern)


# ----------------------------------------------------------------------------------------------------------------------
# Several patterns over one text

#: The nodes of a pattern before the next code point is known; None: it has matched, whatever follows.
_State: TypeAlias = frozenset[int] | None
#: The states of all patterns, and what stands before the place.
_Product: TypeAlias = tuple[tuple[_State, ...], Neighbour]


@dataclass(frozen=True, slots=True)
class _Letter:
    """A class of code points that no set of the patterns tells apart."""

    sample: str
    kind: Neighbour
    members: frozenset[Ranges]


def _alphabet(machines: Sequence[_Machine]) -> list[_Letter]:
    sets = sorted({found for machine in machines for found in machine.sets} | {_WORD, _NEWLINE})
    low, high = _SURROGATES
    cuts = {0, low, high + 1}
    for found in sets:
        for first, last in found:
            cuts |= {first, last + 1}
    starts = sorted(cut for cut in cuts if cut <= LAST)
    classes: dict[frozenset[Ranges], list[tuple[int, int]]] = {}
    pointers = dict.fromkeys(sets, 0)
    for start, following in zip(starts, [*starts[1:], LAST + 1], strict=True):
        if start == low:
            continue
        inside = set()
        for found in sets:
            at = pointers[found]
            while at < len(found) and found[at][1] < start:
                at += 1
            pointers[found] = at
            if at < len(found) and found[at][0] <= start:
                inside.add(found)
        classes.setdefault(frozenset(inside), []).append((start, following - 1))
    return [_Letter(_sample(spans), _kind(inside), inside) for inside, spans in classes.items()]


def _sample(spans: list[tuple[int, int]]) -> str:
    for letter in _READABLE:
        if any(first <= ord(letter) <= last for first, last in spans):
            return letter
    for first, last in spans:
        # The first one that can be printed, if it comes soon.
        for point in range(first, min(last, first + 512) + 1):
            if chr(point).isprintable():
                return chr(point)
    return chr(spans[0][0])


def _kind(inside: frozenset[Ranges]) -> Neighbour:
    return "newline" if _NEWLINE in inside else "word" if _WORD in inside else "other"


def _search(machines: Sequence[_Machine], wanted: Callable[[tuple[bool, ...]], bool], deadline: float) -> Answer:
    letters = _alphabet(machines)
    starts = tuple(frozenset({machine.start}) for machine in machines)
    first: _Product = (starts, "end")
    came_from: dict[_Product, tuple[_Product, str]] = {}
    seen: set[_Product] = {first}
    waiting: deque[_Product] = deque([first])
    memo: dict[tuple[int, _State, Neighbour, int], _State] = {}
    while waiting:
        if len(seen) > _MOST_STATES or time.monotonic() > deadline:
            return Answer(None)
        here = waiting.popleft()
        states, before = here
        matched = tuple(
            state is None or machine.end in machine.closure(state, before, "end")
            for machine, state in zip(machines, states, strict=True)
        )
        if wanted(matched):
            return Answer(False, _text(here, came_from))
        for index, letter in enumerate(letters):
            following = []
            for number, (machine, state) in enumerate(zip(machines, states, strict=True)):
                key = (number, state, before, index)
                if key not in memo:
                    memo[key] = _step(machine, state, before, letter)
                following.append(memo[key])
            there: _Product = (tuple(following), letter.kind)
            if there not in seen:
                seen.add(there)
                came_from[there] = (here, letter.sample)
                waiting.append(there)
    return Answer(True)


def _step(machine: _Machine, state: _State, before: Neighbour, letter: _Letter) -> _State:
    if state is None:
        return None
    nodes = machine.closure(state, before, letter.kind)
    if machine.end in nodes:
        return None
    # A match may begin at any place of the text.
    onward = {machine.start}
    for node in nodes:
        move = machine.moves[node]
        if move is not None and move[0] in letter.members:
            onward.add(move[1])
    return frozenset(onward)


def _text(state: _Product, came_from: dict[_Product, tuple[_Product, str]]) -> str:
    letters = []
    while state in came_from:
        state, letter = came_from[state]
        letters.append(letter)
    return "".join(reversed(letters))
