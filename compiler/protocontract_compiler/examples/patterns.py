"""Short texts that match a pattern of RE2, as far as its form shows how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import re2

from protocontract_compiler.cel.regex_subset import Alt, Chars, Edge, Loop, Node, Seq, syntax

#: Characters that people expect, where a set has them.
_USUAL: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ1234567890-_. "
_WIDTHS: Final = (4, 1, 8)


def texts(pattern: str, nth: int = 0) -> Iterator[str]:
    """Texts with a match, which RE2 confirms; none where the pattern is written in a way that is not read here."""
    node = syntax(pattern)
    if node is None:
        return
    matcher = re2.compile(pattern)
    for width in _WIDTHS:
        text = _Walk(nth, width).of(node)
        if matcher.search(text) is not None:
            yield text


class _Walk:
    """Takes another character of a set each time it comes by, beginning at the ``nth``."""

    def __init__(self, nth: int, width: int) -> None:
        self._at = nth
        self._width = width

    def of(self, node: Node) -> str:
        match node:
            case Chars(ranges):
                return self._character(ranges)
            case Seq(items):
                return "".join(map(self.of, items))
            case Alt(branches):
                self._at += 1
                return self.of(branches[(self._at - 1) % len(branches)])
            case Loop(body, least, most):
                # One digit is a number; one letter is hardly a word.
                usual = 1 if isinstance(body, Chars) and not any(map(str.isalpha, _usual(body.ranges))) else self._width
                times = min(max(least, usual), most if most is not None else 10**3)
                return "".join(self.of(body) for _ in range(times))
            case Edge():
                return ""

    def _character(self, ranges: tuple[tuple[int, int], ...]) -> str:
        usual = _usual(ranges)
        if not usual:
            return chr(ranges[0][0]) if ranges else ""
        # Letters before digits before marks, so that the first text is the plainest.
        best = [letter for letter in usual if letter.isalnum()] or usual
        if len(best) == 1:
            return best[0]
        self._at += 1
        return best[(self._at - 1) % len(best)]


def _usual(ranges: tuple[tuple[int, int], ...]) -> list[str]:
    return [letter for letter in _USUAL if any(low <= ord(letter) <= high for low, high in ranges)]
