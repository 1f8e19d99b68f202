"""RE2's syntax, read into a tree of character sets.

Only the structure is parsed here. What a class, an escape or a case-insensitive letter contains is asked of RE2 itself,
over all code points, so that Unicode tables and case folding are RE2's own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

import re2

#: A set of code points: sorted, disjoint, closed ranges.
Ranges: TypeAlias = tuple[tuple[int, int], ...]

LAST: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)
Assertion: TypeAlias = Literal["begin_text", "end_text", "begin_line", "end_line", "word", "not_word"]


class Unsupported(Exception):
    """The pattern has something that is no property of code points (``\\C``), or that RE2 refuses."""


@dataclass(frozen=True, slots=True)
class Chars:
    """One code point of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other; no part at all is the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The part ``low`` to ``high`` times; None is without end."""

    part: Node
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Assert:
    """A condition on the place between two code points."""

    kind: Assertion


Node: TypeAlias = Chars | Sequence | Choice | Repeat | Assert

_COUNT: Final = re.compile(r"\{(\d+)(,(\d*))?\}")
_NAMED: Final = re.compile(r"\(\?P?<\w+>")
_FLAGS: Final = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
# What follows a backslash and stands for more than one letter of the pattern.
_ESCAPE: Final = re.compile(r"\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[0-9A-Fa-f]+\}|[0-9A-Fa-f]{2})|[0-7]{1,3}|.)", re.DOTALL)
_ASSERTIONS: Final[dict[str, Assertion]] = {
    r"\A": "begin_text",
    r"\z": "end_text",
    r"\b": "word",
    r"\B": "not_word",
}
# [] and [^] begin with a literal bracket; [:name:] and escapes may hold one.
_CLASS: Final = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\[pP]\{[^}]*\}|\\x\{[^}]*\}|\\.|[^\]\\])*\]", re.DOTALL)
_PLAIN_CLASS: Final = re.compile(r"\[(?:[A-Za-z0-9_.,;:!@#%&=/ ]|[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9])+-?\]")


@lru_cache(maxsize=1024)
def parse(pattern: str) -> Node:
    """The tree of a pattern. Raises Unsupported."""
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options=options)
    except re2.error as error:
        raise Unsupported(str(error)) from None
    return _Parser(pattern).parse()


class _Parser:
    """Recursive descent over a pattern that RE2 has accepted."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._flags = frozenset[str]()

    def parse(self) -> Node:
        node = self._choice()
        if self._at != len(self._text):
            raise Unsupported("a group that ends twice")
        return node

    def _choice(self) -> Node:
        # Flags set within a group end with it.
        flags = self._flags
        parts = [self._sequence()]
        while self._text.startswith("|", self._at):
            self._at += 1
            parts.append(self._sequence())
        self._flags = flags
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            if self._text.startswith(r"\Q", self._at):
                parts.extend(self._quoted())
                continue
            atom = self._atom()
            if atom is not None:
                parts.append(self._repeated(atom))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _quoted(self) -> list[Node]:
        end = self._text.find(r"\E", self._at + 2)
        quoted = self._text[self._at + 2 : end if end >= 0 else len(self._text)]
        self._at = end + 2 if end >= 0 else len(self._text)
        parts: list[Node] = [self._set(re2.escape(letter)) for letter in quoted]
        if parts:
            parts[-1] = self._repeated(parts[-1])
        return parts

    def _repeated(self, node: Node) -> Node:
        while self._at < len(self._text):
            letter = self._text[self._at]
            count = _COUNT.match(self._text, self._at) if letter == "{" else None
            if letter in "*+?":
                node = Repeat(node, int(letter == "+"), 1 if letter == "?" else None)
                self._at += 1
            elif count is not None:
                low = int(count[1])
                high = low if count[2] is None else int(count[3]) if count[3] else None
                node = Repeat(node, low, high)
                self._at = count.end()
            else:
                break
            if self._text.startswith("?", self._at):
                # Lazy: which match is found differs, not whether there is one.
                self._at += 1
        return node

    def _atom(self) -> Node | None:
        text, at = self._text, self._at
        letter = text[at]
        if letter == "(":
            return self._group()
        if letter == "[":
            found = _CLASS.match(text, at)
            if found is None:
                raise Unsupported("a class without an end")
            self._at = found.end()
            return self._set(found[0])
        if letter == "\\":
            found = _ESCAPE.match(text, at)
            if found is None:
                raise Unsupported("a backslash at the end")
            self._at = found.end()
            if found[0] == r"\C":
                raise Unsupported("a byte of a code point")
            kind = _ASSERTIONS.get(found[0])
            return Assert(kind) if kind is not None else self._set(found[0])
        self._at += 1
        if letter == "^":
            return Assert("begin_line" if "m" in self._flags else "begin_text")
        if letter == "$":
            return Assert("end_line" if "m" in self._flags else "end_text")
        return self._set("." if letter == "." else re2.escape(letter))

    def _group(self) -> Node | None:
        flags = self._flags
        named = _NAMED.match(self._text, self._at)
        with_flags = _FLAGS.match(self._text, self._at)
        if named is not None:
            self._at = named.end()
        elif with_flags is not None:
            self._at = with_flags.end()
            self._flags = (flags | frozenset(with_flags[1])) - frozenset(with_flags[2] or "")
            if with_flags[3] == ")":
                # For the rest of the group around it.
                return None
        else:
            self._at += 1
        node = self._choice()
        self._flags = flags
        if not self._text.startswith(")", self._at):
            raise Unsupported("a group without an end")
        self._at += 1
        return node

    def _set(self, piece: str) -> Chars:
        return Chars(contents(piece, "i" in self._flags, "s" in self._flags))


@lru_cache(maxsize=4096)
def contents(piece: str, ignore_case: bool, dot_all: bool) -> Ranges:
    """The code points that a class, an escape or a letter of a pattern matches, as RE2 sees them."""
    if not ignore_case:
        letter = piece[-1]
        if len(piece) == 1 and piece != ".":
            return ((ord(piece), ord(piece)),)
        if len(piece) == 2 and piece[0] == "\\" and not letter.isalnum():
            return ((ord(letter), ord(letter)),)
        if _PLAIN_CLASS.fullmatch(piece):
            return _plain(piece[1:-1])
    flags = ("i" if ignore_case else "") + ("s" if dot_all else "")
    wanted = re2.compile((f"(?{flags})" if flags else "").encode() + b"(?:" + piece.encode() + b")+")
    return merged((_code_point(m.start()), _code_point(m.end()) - 1) for m in wanted.finditer(_everything()))


def _plain(inside: str) -> Ranges:
    found = []
    at = 0
    while at < len(inside):
        last = inside[at + 2] if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside) else inside[at]
        found.append((ord(inside[at]), ord(last)))
        at += 3 if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside) else 1
    return merged(found)


def merged(ranges: object) -> Ranges:
    """Sorted and disjoint, as a set of code points is written here."""
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):  # type: ignore[call-overload]
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return tuple(out)


@lru_cache(maxsize=1)
def _everything() -> bytes:
    """All code points that a text may hold, in order, as UTF-8."""
    low, high = _SURROGATES
    return "".join(map(chr, (*range(low), *range(high + 1, LAST + 1)))).encode()


_ENDS_OF_LENGTHS: Final = (0x80, 0x800, 0x10000)
_BYTES_BEFORE_3: Final = 0x80 + 2 * (0x800 - 0x80)
_BYTES_BEFORE_4: Final = _BYTES_BEFORE_3 + 3 * (0x10000 - 0x800 - 0x800)


def _code_point(offset: int) -> int:
    """The code point that begins at an offset of ``_everything``."""
    if offset < 0x80:
        return offset
    if offset < _BYTES_BEFORE_3:
        return 0x80 + (offset - 0x80) // 2
    if offset < _BYTES_BEFORE_4:
        point = 0x800 + (offset - _BYTES_BEFORE_3) // 3
        return point if point < _SURROGATES[0] else point + 0x800
    return 0x10000 + (offset - _BYTES_BEFORE_4) // 4
