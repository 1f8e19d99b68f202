"""Regular expressions: RE2 decides what is legal; a subset that means the same to Python's ``re`` runs there.

``re`` is fifteen times faster a call than RE2's binding, but it backtracks and differs in many constructs. A pattern
is given to it only when ``regex_subset`` can write it so that every loop is deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

import re2

from protocontract_compiler.cel.regex_subset import LAST, NOT_NEWLINE, Ranges, automaton
from protocontract_compiler.cel.regex_write import ANY, NONE, Dialect

Method: TypeAlias = Literal["fullmatch", "match", "search"]


@dataclass(frozen=True, slots=True)
class RegexPlan:
    """How a pattern runs: ``re.compile(source).<method>`` or ``re2.compile(source).search``.

    ``source`` for RE2 is the contract's own pattern. The result of ``method`` is not
    ``None`` where the pattern matches somewhere in the text.
    """

    engine: Literal["re", "re2"]
    source: str
    method: Method


def check_pattern(pattern: str) -> str | None:
    """What RE2 says against a pattern, or ``None`` where it is legal."""
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options=options)
    except re2.error as error:
        (message,) = error.args or ("not a regular expression",)
        return message.decode() if isinstance(message, bytes) else str(message)
    return None


@lru_cache(maxsize=4096)
def compile_pattern(pattern: str) -> RegexPlan:
    """The plan for a legal pattern."""
    found = automaton(pattern)
    if found is None or not found.is_safe:
        return RegexPlan("re2", pattern, "search")
    if found.start:
        return RegexPlan("re", _PYTHON.write(found.node), "fullmatch" if found.end else "match")
    return RegexPlan("re", _PYTHON.write(found.node, alone=not found.end) + (r"\Z" if found.end else ""), "search")


def _escape(code: int) -> str:
    if chr(code).isprintable() and not 0xD800 <= code <= 0xDFFF:
        return chr(code)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


_PYTHON: Final = Dialect(
    special=r"\.^$*+?{}[]()|",
    special_in_class=r"\]^-[&~|",
    escape=_escape,
    sets={ANY: r"[\s\S]", NONE: r"[^\s\S]", NOT_NEWLINE: "."},
)


@lru_cache(maxsize=1)
def _every_character() -> bytes:
    return "".join(map(chr, (*range(0xD800), *range(0xE000, LAST + 1)))).encode()


@lru_cache(maxsize=64)
def unicode_set(escape: str) -> Ranges:
    """The code points of a set such as ``\\pL``, as RE2's own tables have them. Surrogates are in none."""
    # In bytes: places in a text would have to be counted for every match.
    found = (str(match[0] or b"", "utf-8") for match in re2.compile(f"{escape}+".encode()).finditer(_every_character()))
    return tuple((ord(part[0]), ord(part[-1])) for part in found)
