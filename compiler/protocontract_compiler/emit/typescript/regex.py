"""Regular expressions of RE2 in JavaScript: where a pattern means the same there, or as an automaton of our own.

``regex_subset`` reads a pattern into sets of code points. What is deterministic runs in RegExp, with every set written
out, so that no class, flag or escape is left that the two engines read differently; everything else that was read runs
as its position automaton, which looks at each character once. What it cannot read has no exact form here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from protocontract_compiler.cel.regex import unicode_set
from protocontract_compiler.cel.regex_subset import automaton
from protocontract_compiler.cel.regex_write import ANY, NONE, Dialect
from protocontract_compiler.emit.typescript.access import literal


def pattern_code(pattern: str, use: Callable[[str, str], str]) -> str | None:
    """Code of an object with ``test(text)``, or None where there is no exact one."""
    found = automaton(pattern, unicode_set)
    if found is None:
        return None
    if found.is_safe:
        source = f"{'^' if found.start else ''}{_JAVASCRIPT.write(found.node, alone=not found.start and not found.end)}"
        return f"/{source}{'$' if found.end else ''}/u"
    sets = [[list(pair) for pair in ranges] for ranges in found.sets]
    follow = [sorted(places) for places in found.follow]
    arguments = [sets, follow, sorted(found.first), sorted(found.last)]
    flags = [found.nullable, found.start, found.end]
    return f"/* @__PURE__ */ {use('cel/automaton', 'automaton')}({', '.join(map(literal, [*arguments, *flags]))})"


def _escape(code: int) -> str:
    if chr(code).isascii() and chr(code).isprintable():
        return chr(code)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\u{{{code:x}}}"


_JAVASCRIPT: Final = Dialect(
    special=r"^$\.*+?()[]{}|/", special_in_class=r"\]^[-", escape=_escape, sets={ANY: "[^]", NONE: "[]"}, empty="(?:)"
)
