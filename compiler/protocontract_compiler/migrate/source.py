"""A .proto file as text with the places of its fields and options: enough to edit options and nothing else.

Not a checker: protoc has the last word on the source before and the result after.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, TypeAlias

_TOKEN: Final = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<word>[A-Za-z_]\w*)
      | (?P<number>\.?[0-9](?:[eE][+-]|[\w.])*)
      | (?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
#: The types of numbers, and all types that are no messages or enums, as a .proto file writes them.
NUMBERS: Final = frozenset(
    [
        "double",
        "float",
        "int32",
        "int64",
        "uint32",
        "uint64",
        "sint32",
        "sint64",
        "fixed32",
        "fixed64",
        "sfixed32",
        "sfixed64",
    ]
)
_SCALARS: Final = NUMBERS | {"bool", "string", "bytes"}


class NotRead(ValueError):
    """The source has something that is not read here; ``line`` says where."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"{what} is not read here")
        self.line = line


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, string or mark with its offsets."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scalar:
    """A constant as it is written; adjacent strings are one."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Listed:
    """``[a, b]``."""

    items: tuple[Value, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Entry:
    """``name: value`` of a message; ``end`` is behind its separator, if it has one."""

    name: str
    value: Value
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Aggregate:
    """``{a: 1 b: 2}``."""

    entries: tuple[Entry, ...]
    start: int
    end: int


Value: TypeAlias = "Scalar | Listed | Aggregate"


@dataclass(frozen=True, slots=True)
class Option:
    """``(validate.rules).string.min_len = 1``: ``extension`` and the ``path`` behind it, or a plain option's path."""

    extension: str
    path: tuple[str, ...]
    value: Value
    start: int
    #: The end of ``(validate.rules)``.
    named: int
    end: int


@dataclass(slots=True)
class Field:
    """A field; ``bracket`` is the place of its option list, if it has one, ``semicolon`` that of its end."""

    name: str
    type: str
    label: str
    in_oneof: bool
    start: int
    semicolon: int
    bracket: tuple[int, int] | None = None
    options: list[Option] = field(default_factory=list)

    @property
    def is_scalar(self) -> bool:
        """Whether the type is one of protobuf's scalar types."""
        return self.type in _SCALARS


@dataclass(frozen=True, slots=True)
class Statement:
    """``option X = Y;`` with the place of the whole statement."""

    option: Option
    start: int
    end: int


@dataclass(slots=True)
class Block:
    """A message (a group is one, too), a oneof or an `extend`; ``body`` is the offset behind its brace."""

    kind: str
    name: str
    body: int
    statements: list[Statement] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)


@dataclass(slots=True)
class Import:
    """An import and its whole statement."""

    name: str
    start: int
    end: int


@dataclass(slots=True)
class Source:
    """A file. ``head`` is the offset behind its syntax and package, where imports may be added."""

    text: str
    syntax: str = "proto2"
    head: int = 0
    imports: list[Import] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def line(self, offset: int) -> int:
        """The line of an offset, from 1."""
        return self.text.count("\n", 0, offset) + 1

    def every_block(self) -> Iterator[Block]:
        """All blocks, outer ones first."""
        waiting = list(self.blocks)
        while waiting:
            block = waiting.pop(0)
            yield block
            waiting = block.blocks + waiting


def read(text: str) -> Source:
    """The structure of a source. Raises NotRead."""
    return _Reader(text).file()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [
            Token(str(match.lastgroup), match[0], match.start(), match.end())
            for match in _TOKEN.finditer(text)
            if match.lastgroup != "skip"
        ]
        self._at = 0

    # -- tokens

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at].text if at < len(self._tokens) else ""

    def _take(self, expected: str = "") -> Token:
        if self._at >= len(self._tokens):
            raise NotRead(self._text.count("\n") + 1, "the end of the file")
        token = self._tokens[self._at]
        if expected and token.text != expected:
            raise NotRead(self._text.count("\n", 0, token.start) + 1, f"`{token.text}`")
        self._at += 1
        return token

    def _start(self) -> int:
        """The offset of what comes next."""
        return self._tokens[self._at].start if self._at < len(self._tokens) else len(self._text)

    def _skip_statement(self) -> Token:
        """To behind the next semicolon, or behind the block that comes before it."""
        depth = 0
        while True:
            token = self._take()
            if token.text in "{[(<" and token.kind == "mark":
                depth += 1
            elif token.text in "}])>" and token.kind == "mark":
                depth -= 1
                if depth == 0 and token.text == "}" and self._peek() != ";":
                    return token
            elif token.text == ";" and depth <= 0:
                return token

    # -- the file

    def file(self) -> Source:
        source = Source(self._text)
        while self._at < len(self._tokens):
            start = self._start()
            match self._peek():
                case "syntax" | "edition":
                    word = self._take().text
                    self._take("=")
                    named = self._take().text[1:-1]
                    source.syntax = named if word == "syntax" else "editions"
                    source.head = self._take(";").end
                case "package":
                    source.head = self._skip_statement().end
                case "import":
                    self._take()
                    named_token = self._take()
                    if named_token.kind != "string":
                        named_token = self._take()
                    name = named_token.text[1:-1]
                    source.imports.append(Import(name, start, self._take(";").end))
                case "message" | "extend":
                    source.blocks.append(self._block(self._peek()))
                case _:
                    self._skip_statement()
        return source

    def _block(self, kind: str) -> Block:
        self._take()
        return self._body(Block(kind, self._name(), self._take("{").end))

    def _body(self, block: Block) -> Block:
        """What stands in a block, and its closing brace."""
        while self._peek() != "}":
            ahead = self._peek(1)
            match self._peek():
                case ";":
                    self._take()
                case "message" if self._peek(2) == "{":
                    block.blocks.append(self._block("message"))
                case "oneof" if self._peek(2) == "{":
                    block.blocks.append(self._block("oneof"))
                case "option" if ahead == "(" or self._peek(2) in {"=", "."}:
                    start = self._take().start
                    option = self._option()
                    block.statements.append(Statement(option, start, self._take(";").end))
                case "extend" if self._peek(2) in {"{", "."} or ahead == ".":
                    block.blocks.append(self._block("extend"))
                case "enum" if self._peek(2) == "{":
                    self._skip_statement()
                case "reserved" | "extensions" if ahead != "=" and self._peek(2) != "=":
                    self._skip_statement()
                case _ if "group" in {self._peek(), ahead} and "=" in {self._peek(2), self._peek(3)}:
                    block.blocks.append(self._group())
                case _:
                    block.fields.append(self._field(block.kind == "oneof"))
        self._take("}")
        return block

    def _group(self) -> Block:
        """``optional group Name = 1 {...}``: a message, whose own options are not looked at."""
        while self._take().text != "group":
            pass
        name = self._take().text
        opened = self._take()
        while opened.text != "{":
            opened = self._take()
        return self._body(Block("message", name, opened.end))

    def _field(self, in_oneof: bool) -> Field:
        start = self._start()
        label = self._take().text if self._peek() in {"optional", "repeated", "required"} else ""
        type_ = self._type()
        name = self._take().text
        self._take("=")
        self._take()
        bracket, options = None, []
        if self._peek() == "[":
            opened = self._take()
            while self._peek() != "]":
                options.append(self._option())
                if self._peek() == ",":
                    self._take()
            bracket = (opened.start, self._take("]").end)
        return Field(name, type_, label, in_oneof, start, self._take(";").start, bracket, options)

    def _type(self) -> str:
        if self._peek() == "map" and self._peek(1) == "<":
            while self._take().text != ">":
                pass
            return "map"
        return self._name()

    def _name(self) -> str:
        parts: list[str] = []
        if self._peek() == ".":
            self._take()
        parts.append(self._take().text)
        while self._peek() == ".":
            self._take()
            parts.append(self._take().text)
        return ".".join(parts)

    # -- options

    def _option(self) -> Option:
        start = self._start()
        extension, named = "", start
        if self._peek() == "(":
            self._take()
            extension = self._name()
            named = self._take(")").end
        path: list[str] = []
        while self._peek() != "=":
            if self._peek() == ".":
                self._take()
            if self._peek() == "(":
                self._take()
                path.append(f"({self._name()})")
                self._take(")")
            else:
                path.append(self._take().text)
        self._take("=")
        value = self._value()
        return Option(extension, tuple(path), value, start, named, value.end)

    def _value(self) -> Value:
        token = self._take()
        match token.text:
            case "{":
                return self._aggregate(token, "}")
            case "<":
                return self._aggregate(token, ">")
            case "[":
                items: list[Value] = []
                while self._peek() != "]":
                    items.append(self._value())
                    if self._peek() == ",":
                        self._take()
                return Listed(tuple(items), token.start, self._take("]").end)
            case "-" | "+":
                return Scalar(token.start, self._take().end)
        end = token.end
        while token.kind == "string" and self._at < len(self._tokens) and self._tokens[self._at].kind == "string":
            end = self._take().end
        return Scalar(token.start, end)

    def _aggregate(self, opened: Token, closing: str) -> Aggregate:
        entries: list[Entry] = []
        while self._peek() != closing:
            start = self._start()
            if self._peek() == "[":
                name = ""
                while self._peek() != "]":
                    name += self._take().text
                name += self._take().text
            else:
                name = self._take().text
            if self._peek() == ":":
                self._take()
            value = self._value()
            end = value.end
            if self._peek() in {",", ";"}:
                end = self._take().end
            entries.append(Entry(name, value, start, end))
        return Aggregate(tuple(entries), opened.start, self._take(closing).end)
