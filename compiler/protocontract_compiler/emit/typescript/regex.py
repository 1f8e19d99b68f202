"""Regular expressions of RE2 in JavaScript: where a pattern means the same there, or as an automaton of our own.

``regex_subset`` reads a pattern into sets of code points. What is deterministic runs in RegExp, with every set written
out, so that no class, flag or escape is left that the two engines read differently; everything else that was read runs
as its position automaton, which looks at each character once. What it cannot read has no exact form here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from protocontract_compiler.cel import regex_subset
from protocontract_compiler.cel.regex_subset import Alt, Chars, Edge, Loop, Node, Ranges, Seq
from protocontract_compiler.emit.typescript.access import literal

_LAST: Final = 0x10FFFF
_SYNTAX: Final = r"^$\.*+?()[]{}|/"
_IN_CLASS: Final = r"\]^[-"


def pattern_code(pattern: str, use: Callable[[str, str], str]) -> str | None:
    """Code of an object with ``test(text)``, or None where there is no exact one."""
    found = regex_subset.automaton(pattern)
    if found is None:
        return None
    if found.is_safe:
        source = f"{'^' if found.start else ''}{_write(found.node, alone=not found.start and not found.end)}"
        return f"/{source}{'$' if found.end else ''}/u"
    sets = [[list(pair) for pair in ranges] for ranges in found.sets]
    follow = [sorted(places) for places in found.follow]
    arguments = [sets, follow, sorted(found.first), sorted(found.last)]
    flags = [found.nullable, found.start, found.end]
    return f"/* @__PURE__ */ {use('cel/automaton', 'automaton')}({', '.join(map(literal, [*arguments, *flags]))})"


def _write(node: Node, *, alone: bool = True) -> str:
    match node:
        case Chars():
            return _write_set(node.ranges)
        case Seq():
            return "".join(_write(item, alone=False) for item in node.items) or "(?:)"
        case Alt():
            text = "|".join(_write(branch) for branch in node.branches)
            return text if alone else f"(?:{text})"
        case Loop():
            body = _write(node.body, alone=False)
            if isinstance(node.body, Seq | Loop):
                body = f"(?:{body})"
            return body + _write_count(node.least, node.most)
        case Edge():
            raise ValueError("an anchor inside of a pattern; expected it at an end")


def _write_count(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _ if least == most:
            return f"{{{least}}}"
        case _:
            return f"{{{least},{'' if most is None else most}}}"


def _write_set(ranges: Ranges) -> str:
    if ranges == ((0, _LAST),):
        return r"[^]"
    if not ranges:
        return "[]"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _write_character(ranges[0][0], _SYNTAX)
    negated = ranges[-1][1] == _LAST
    inside = "".join(map(_write_range, regex_subset.complement(ranges) if negated else ranges))
    return f"[{'^' if negated else ''}{inside}]"


def _write_range(pair: tuple[int, int]) -> str:
    low, high = (_write_character(code, _IN_CLASS) for code in pair)
    if pair[0] == pair[1]:
        return low
    return f"{low}{high}" if pair[0] + 1 == pair[1] else f"{low}-{high}"


def _write_character(code: int, special: str) -> str:
    character = chr(code)
    if character in special:
        return f"\\{character}"
    if character.isascii() and character.isprintable():
        return character
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\u{{{code:x}}}"
