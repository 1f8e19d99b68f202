"""The subset of RE2 that Python's ``re`` runs with the same meaning and in linear time.

Only whether a pattern matches matters, never what or where. A pattern is parsed into sets of code points, so that no
class, flag or escape is left whose meaning the two engines do not share. It is given to ``re`` only if it is
deterministic: after any prefix of the text, the next character belongs to at most one place of the pattern (the
position automaton of Glushkov has no two edges on one character). A backtracking engine then has nothing to try: every
choice that it comes back to fails at its first character. Where a match may start anywhere, the pattern must also be
of bounded length; a loop at an open end is cut to its minimum first, which matches the same texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

#: The largest code point.
LAST: Final = 0x10FFFF
_MOST_PLACES: Final = 600
_MOST_PLACES_ANYWHERE: Final = 64

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points as sorted, disjoint, inclusive ranges."""
Unicode: TypeAlias = Callable[[str], Ranges]


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Seq:
    """One after the other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    """One of several."""

    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """``least`` to ``most`` times; ``most`` is ``None`` where there is no limit."""

    body: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Edge:
    """The start or the end of the text."""

    end: bool


Node: TypeAlias = Chars | Seq | Alt | Loop | Edge


class _Unsupported(Exception):
    """The pattern is outside the subset."""


# ----------------------------------------------------------------------------------------------------------------------
# Sets of code points


def _normal(ranges: list[tuple[int, int]]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """All code points that are not in a set."""
    result, start = [], 0
    for low, high in ranges:
        if start < low:
            result.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        result.append((start, LAST))
    return tuple(result)


def _of(text: str) -> Ranges:
    return _normal([(ord(character), ord(character)) for character in text])


_DIGIT: Final[Ranges] = ((48, 57),)
_WORD: Final = _normal([(48, 57), (65, 90), (95, 95), (97, 122)])
_SPACE: Final = _of("\t\n\f\r ")
_PERL: Final = {
    "d": _DIGIT,
    "D": complement(_DIGIT),
    "w": _WORD,
    "W": complement(_WORD),
    "s": _SPACE,
    "S": complement(_SPACE),
}
_POSIX: Final = {
    "alnum": _normal([(48, 57), (65, 90), (97, 122)]),
    "alpha": _normal([(65, 90), (97, 122)]),
    "ascii": ((0, 127),),
    "blank": _of("\t "),
    "cntrl": _normal([(0, 31), (127, 127)]),
    "digit": _DIGIT,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": _normal([(33, 47), (58, 64), (91, 96), (123, 126)]),
    "space": _of("\t\n\v\f\r "),
    "upper": ((65, 90),),
    "word": _WORD,
    "xdigit": _normal([(48, 57), (65, 70), (97, 102)]),
}
_ESCAPES: Final = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
NOT_NEWLINE: Final = complement(((10, 10),))
_FOLDED: Final = {"k": "\u212a", "s": "\u017f"}
"""Letters beyond ASCII that are equal to an ASCII letter when case does not matter."""


def _fold(ranges: Ranges) -> Ranges:
    """The set without regard to case; only sets within ASCII are supported."""
    if any(high > 127 for _, high in ranges):
        raise _Unsupported
    folded = list(ranges)
    for low, high in ranges:
        for code in range(low, high + 1):
            character = chr(code)
            if character.isalpha():
                folded += _of(character.swapcase())
                if character.lower() in _FOLDED:
                    folded += _of(_FOLDED[character.lower()])
    return _normal(folded)


# ----------------------------------------------------------------------------------------------------------------------
# Parser: only what is legal in RE2 arrives here


class _Parser:
    def __init__(self, pattern: str, unicode: Unicode | None = None) -> None:
        self._text = pattern
        self._unicode = unicode
        self._at = 0
        self._ignore_case = False
        self._dot_all = False

    def parse(self) -> Node:
        flags = re.match(r"\(\?([is]+)\)", self._text)
        if flags is not None:
            self._ignore_case, self._dot_all = "i" in flags[1], "s" in flags[1]
            self._at = flags.end()
        node = self._alternation()
        if self._at < len(self._text):
            raise _Unsupported
        return node

    def _peek(self, size: int = 1) -> str:
        return self._text[self._at : self._at + size]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise _Unsupported
        self._at += 1
        return character

    def _alternation(self) -> Node:
        branches = [self._sequence()]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Alt(tuple(branches))

    def _sequence(self) -> Node:
        items: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            items.append(self._repeated(self._atom()))
        return items[0] if len(items) == 1 else Seq(tuple(items))

    def _repeated(self, atom: Node) -> Node:
        match = re.compile(r"[*+?]|\{(\d+)(,?)(\d*)\}").match(self._text, self._at)
        if match is None:
            if self._peek() == "{":
                raise _Unsupported
            return atom
        if isinstance(atom, Edge):
            raise _Unsupported
        self._at = match.end()
        if self._peek() == "?":
            self._at += 1  # lazy: the same texts match
        if self._peek() and self._peek() in "*+?{":
            raise _Unsupported
        match match[0]:
            case "*":
                return Loop(atom, 0, None)
            case "+":
                return Loop(atom, 1, None)
            case "?":
                return Loop(atom, 0, 1)
        least = int(match[1])
        if not match[2]:
            return Loop(atom, least, least)
        return Loop(atom, least, int(match[3]) if match[3] else None)

    def _atom(self) -> Node:
        character = self._take()
        match character:
            case "^":
                return Edge(end=False)
            case "$":
                return Edge(end=True)
            case ".":
                return Chars(((0, LAST),) if self._dot_all else NOT_NEWLINE)
            case "[":
                return Chars(self._class())
            case "(":
                return self._group()
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise _Unsupported
        return self._chars(_of(character))

    def _chars(self, ranges: Ranges) -> Chars:
        return Chars(_fold(ranges) if self._ignore_case else ranges)

    def _group(self) -> Node:
        head = re.compile(r"\?(?::|P?<\w+>)").match(self._text, self._at)
        if head is not None:
            self._at = head.end()
        elif self._peek() == "?":
            raise _Unsupported
        node = self._alternation()
        if self._take() != ")":
            raise _Unsupported
        return node

    def _escape(self) -> Node:
        character = self._peek()
        if character in _PERL and character:
            self._at += 1
            return Chars(self._perl(character))
        if character in ("p", "P"):
            return Chars(self._property())
        if character == "A":
            self._at += 1
            return Edge(end=False)
        if character == "z":
            self._at += 1
            return Edge(end=True)
        return self._chars(_of(chr(self._escaped())))

    def _perl(self, name: str) -> Ranges:
        if self._ignore_case and name in "wW":
            raise _Unsupported  # RE2 adds the letters that fold into ASCII
        return _PERL[name]

    def _property(self) -> Ranges:
        """A set of Unicode's: ``pL``, ``P{Greek}``, after the backslash."""
        match = re.compile(r"[pP](?:[A-Z]|\{\^?\w+\})").match(self._text, self._at)
        # Without regard to case RE2 folds the set as well.
        if match is None or self._unicode is None or self._ignore_case:
            raise _Unsupported
        self._at = match.end()
        return self._unicode(f"\\{match[0]}")

    def _escaped(self) -> int:
        """The code point of an escape of one character, after the backslash."""
        character = self._take()
        if character in _ESCAPES:
            return _ESCAPES[character]
        if character == "x":
            match = re.compile(r"\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{2})").match(self._text, self._at)
            if match is None:
                raise _Unsupported
            self._at = match.end()
            return int(match[1] or match[2], 16)
        if character.isascii() and not character.isalnum() and character != "_":
            return ord(character)
        raise _Unsupported

    def _class(self) -> Ranges:
        negated = self._peek() == "^"
        self._at += negated
        found: list[tuple[int, int]] = []
        first = True
        while first or self._peek() != "]":
            first = False
            found.extend(self._class_item())
        self._at += 1
        ranges = _normal(found)
        if self._ignore_case:
            ranges = _fold(ranges)
        return complement(ranges) if negated else ranges

    def _class_item(self) -> list[tuple[int, int]]:
        if self._peek(2) == "[:":
            match = re.compile(r"\[:(\^?)(\w+):\]").match(self._text, self._at)
            if match is None or match[2] not in _POSIX or self._ignore_case:
                raise _Unsupported
            self._at = match.end()
            ranges = _POSIX[match[2]]
            return list(complement(ranges) if match[1] else ranges)
        if self._peek() == "\\" and self._peek(2)[1:] in _PERL:
            name = self._peek(2)[1:]
            self._at += 2
            return list(self._perl(name))
        if self._peek(2) in (r"\p", r"\P"):
            self._at += 1
            return list(self._property())
        low = self._class_character()
        if self._peek() != "-" or self._peek(2)[1:] in ("]", ""):
            return [(low, low)]
        self._at += 1
        high = self._class_character()
        if high < low:
            raise _Unsupported
        return [(low, high)]

    def _class_character(self) -> int:
        character = self._take()
        return self._escaped() if character == "\\" else ord(character)


# ----------------------------------------------------------------------------------------------------------------------
# Anchors and open ends


def _branches(node: Node) -> Iterator[list[Node]]:
    for branch in node.branches if isinstance(node, Alt) else (node,):
        yield list(branch.items) if isinstance(branch, Seq) else [branch]


def _unanchored(node: Node) -> tuple[Node, bool, bool]:
    """The pattern without its anchors, and whether it starts and ends where the text does; all branches must agree."""
    starts, ends, bodies = set(), set(), []
    for items in _branches(node):
        start = bool(items) and items[0] == Edge(end=False)
        items = items[start:]
        end = bool(items) and items[-1] == Edge(end=True)
        items = items[: len(items) - end]
        starts.add(start)
        ends.add(end)
        bodies.append(items)
    if len(starts) > 1 or len(ends) > 1:
        raise _Unsupported
    start, end = starts.pop(), ends.pop()
    trimmed: list[Node] = []
    for items in bodies:
        if not end:
            items = _trim(items, last=True)
        if not start:
            items = _trim(items, last=False)
        trimmed.append(items[0] if len(items) == 1 else Seq(tuple(items)))
    return trimmed[0] if len(trimmed) == 1 else Alt(tuple(trimmed)), start, end


def _trim(items: list[Node], *, last: bool) -> list[Node]:
    """Loops at an open end cut to their minimum: a longer match there exists only where a shorter one does."""
    while items:
        place = -1 if last else 0
        loop = items[place]
        if not isinstance(loop, Loop) or loop.most == loop.least:
            return items
        items = [*items]
        if loop.least:
            items[place] = loop.body if loop.least == 1 else Loop(loop.body, loop.least, loop.least)
            return items
        del items[place]
    return items


# ----------------------------------------------------------------------------------------------------------------------
# Determinism


@dataclass(slots=True)
class _Part:
    """A part of the position automaton: may it be empty, its first and last places."""

    nullable: bool
    first: frozenset[int]
    last: frozenset[int]


class _Automaton:
    """Glushkov's automaton of a pattern, with counted loops written out."""

    def __init__(self) -> None:
        self.sets: list[Ranges] = []
        self.follow: list[set[int]] = []

    def add(self, node: Node) -> _Part:
        match node:
            case Chars():
                if len(self.sets) >= _MOST_PLACES:
                    raise _Unsupported
                self.sets.append(node.ranges)
                self.follow.append(set())
                place = frozenset({len(self.sets) - 1})
                return _Part(False, place, place)
            case Seq():
                part = _Part(True, frozenset(), frozenset())
                for item in node.items:
                    part = self._then(part, self.add(item))
                return part
            case Alt():
                parts = [self.add(branch) for branch in node.branches]
                return _Part(
                    any(part.nullable for part in parts),
                    frozenset().union(*(part.first for part in parts)),
                    frozenset().union(*(part.last for part in parts)),
                )
            case Loop():
                return self._loop(node)
            case Edge():
                raise _Unsupported

    def _then(self, left: _Part, right: _Part) -> _Part:
        for place in left.last:
            self.follow[place] |= right.first
        return _Part(
            left.nullable and right.nullable,
            left.first | right.first if left.nullable else left.first,
            left.last | right.last if right.nullable else right.last,
        )

    def _loop(self, loop: Loop) -> _Part:
        part = _Part(True, frozenset(), frozenset())
        for _ in range(loop.least):
            part = self._then(part, self._body(loop))
        if loop.most is None:
            body = self._body(loop)
            for place in body.last:
                self.follow[place] |= body.first
            return self._then(part, _Part(True, body.first, body.last))
        # x{0,2} as (x(x)?)?: each optional copy is entered only after the one before.
        first, last, previous = part.first, part.last, part.last
        for _ in range(loop.most - loop.least):
            body = self._body(loop)
            for place in previous:
                self.follow[place] |= body.first
            first = first or body.first
            last, previous = last | body.last, body.last
        return _Part(loop.least == 0, first, last)

    def _body(self, loop: Loop) -> _Part:
        body = self.add(loop.body)
        if body.nullable:
            raise _Unsupported
        return body

    def is_deterministic(self, start: frozenset[int]) -> bool:
        return all(self._disjoint(places) for places in (start, *self.follow))

    def _disjoint(self, places: Set[int]) -> bool:
        ranges = sorted(pair for place in places for pair in self.sets[place])
        return all(one[1] < two[0] for one, two in pairwise(ranges))


def _is_bounded(node: Node) -> bool:
    match node:
        case Chars() | Edge():
            return True
        case Seq():
            return all(map(_is_bounded, node.items))
        case Alt():
            return all(map(_is_bounded, node.branches))
        case Loop():
            return node.most is not None and _is_bounded(node.body)


@dataclass(frozen=True, slots=True)
class Automaton:
    """A pattern as it was read: its tree without anchors, and its position automaton.

    ``start`` and ``end`` say whether a match begins and ends where the text does; ``is_safe``, whether a backtracking
    engine runs the tree in linear time.
    """

    node: Node
    start: bool
    end: bool
    nullable: bool
    first: frozenset[int]
    last: frozenset[int]
    sets: tuple[Ranges, ...]
    follow: tuple[frozenset[int], ...]
    is_safe: bool


@lru_cache(maxsize=4096)
def automaton(pattern: str, unicode: Unicode | None = None) -> Automaton | None:
    """A legal pattern as an automaton, or ``None`` where it has parts that are not read.

    ``unicode`` gives the code points of a set of Unicode's (``\\pL``), without which no such set is read.
    """
    try:
        node, start, end = _unanchored(_Parser(pattern, unicode).parse())
        places = _Automaton()
        part = places.add(node)
    except (_Unsupported, RecursionError):
        return None
    is_safe = places.is_deterministic(part.first) and (
        start or (_is_bounded(node) and len(places.sets) <= _MOST_PLACES_ANYWHERE)
    )
    follow = tuple(map(frozenset, places.follow))
    return Automaton(node, start, end, part.nullable, part.first, part.last, tuple(places.sets), follow, is_safe)


def syntax(pattern: str) -> Node | None:
    """The pattern as a tree, or ``None`` where it is written in a way that is not read here."""
    try:
        return _Parser(pattern).parse()
    except (_Unsupported, RecursionError):
        return None
