"""Writes a pattern that ``regex_subset`` has read in the syntax of some engine.

Sets are written out as ranges of code points, so what engines differ in is little: how any character is said, which
characters need a backslash, and what stands for one that does not show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from protocontract_compiler.cel.regex_subset import LAST, Alt, Chars, Edge, Loop, Node, Ranges, Seq, complement


@dataclass(frozen=True, slots=True)
class Dialect:
    """The syntax of an engine. ``special`` and ``special_in_class`` are the characters that need a backslash."""

    special: str
    special_in_class: str
    #: What stands for a character that has no backslash.
    escape: Callable[[int], str]
    #: Sets that have a form of their own.
    sets: Mapping[Ranges, str] = field(default_factory=dict[Ranges, str])
    #: What stands for nothing at all.
    empty: str = ""

    def write(self, node: Node, *, alone: bool = True) -> str:
        """The pattern; ``alone`` says that an alternation needs no group."""
        match node:
            case Chars():
                return self._set(node.ranges)
            case Seq():
                return "".join(self.write(item, alone=False) for item in node.items) or self.empty
            case Alt():
                text = "|".join(self.write(branch) for branch in node.branches)
                return text if alone else f"(?:{text})"
            case Loop():
                body = self.write(node.body, alone=False)
                if isinstance(node.body, Seq | Loop):
                    body = f"(?:{body})"
                return body + count(node.least, node.most)
            case Edge():
                return "$" if node.end else "^"

    def literal(self, text: str) -> str:
        """A pattern that matches exactly this text."""
        return "".join(self._character(ord(each), self.special) for each in text)

    def _set(self, ranges: Ranges) -> str:
        known = self.sets.get(ranges)
        if known is not None:
            return known
        if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
            return self._character(ranges[0][0], self.special)
        negated = ranges[-1][1] == LAST
        inside = "".join(map(self._range, complement(ranges) if negated else ranges))
        return f"[{'^' if negated else ''}{inside}]"

    def _range(self, pair: tuple[int, int]) -> str:
        low, high = (self._character(code, self.special_in_class) for code in pair)
        if pair[0] == pair[1]:
            return low
        return f"{low}{high}" if pair[0] + 1 == pair[1] else f"{low}-{high}"

    def _character(self, code: int, special: str) -> str:
        return f"\\{chr(code)}" if chr(code) in special else self.escape(code)


def count(least: int, most: int | None) -> str:
    """The mark behind what comes ``least`` to ``most`` times; ``None`` is no limit."""
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case 1, 1:
            return ""
        case _ if least == most:
            return f"{{{least}}}"
        case _:
            return f"{{{least},{'' if most is None else most}}}"


ANY: Final[Ranges] = ((0, LAST),)
NONE: Final[Ranges] = ()
