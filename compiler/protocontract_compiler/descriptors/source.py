"""Finds places in .proto source that descriptors do not tell: a key inside an option's braces.

protoc reports the start of an option only. Where the source is at hand, the tokens from there on are read along the
path into the option. Whatever does not fit (the source is another version than the descriptor) gives no place, never a
wrong one: the reader walks tokens by name and stops at the first surprise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"""(?P<space>\s+|//[^\n]*|\#[^\n]*|/\*.*?\*/)
        |(?P<word>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*)
        |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
        |(?P<number>\.?[0-9][0-9A-Za-z.+-]*)
        |(?P<mark>.)""",
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"{": "}", "<": ">", "[": "]", "(": ")"}


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    offset: int
    word: bool


class Source:
    """The text of one .proto file. Lines and columns count from 1, columns as protoc does: bytes, tabs to 8."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._starts = [0]
        for match in re.finditer(rb"\n", text):
            self._starts.append(match.end())

    def find(self, line: int, column: int, steps: Sequence[str | int]) -> tuple[int, int] | None:
        """The place of the innermost of ``steps`` inside of the option that starts at ``line``, ``column``.

        Steps are field names (``[full.name]`` for extensions) and indexes of lists. A list that is written as repeated
        keys is counted through. None where the source does not lead there.
        """
        start = self._offset(line, column)
        if start is None:
            return None
        found = _Walk(self._tokens(start)).option(list(steps))
        return self._place(found.offset) if found is not None else None

    def _offset(self, line: int, column: int) -> int | None:
        if not 1 <= line <= len(self._starts):
            return None
        offset, at = self._starts[line - 1], 1
        while at < column and offset < len(self._text):
            at = _after(self._text[offset], at)
            offset += 1
        return offset if at == column else None

    def _place(self, offset: int) -> tuple[int, int]:
        line = sum(1 for start in self._starts if start <= offset)
        column = 1
        for byte in self._text[self._starts[line - 1] : offset]:
            column = _after(byte, column)
        return line, column

    def _tokens(self, start: int) -> list[_Token]:
        tokens: list[_Token] = []
        depth = 0
        for match in _TOKEN.finditer(self._text, start):
            if match.lastgroup == "space":
                continue
            text = match.group().decode("utf-8", "replace")
            tokens.append(_Token(text, match.start(), match.lastgroup == "word"))
            # An option ends at the semicolon, or at the comma or bracket of the field options around it.
            if match.lastgroup == "mark":
                if text in _CLOSING:
                    depth += 1
                elif text in _CLOSING.values():
                    depth -= 1
                if depth < 0 or (depth == 0 and text in ";,"):
                    break
        return tokens


def _after(byte: int, column: int) -> int:
    return column + 8 - (column - 1) % 8 if byte == 0x09 else column + 1


class _Walk:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def option(self, steps: list[str | int]) -> _Token | None:
        """Reads ``option (name).a.b = value`` and looks up the steps in it."""
        if self._peek("option"):
            self._at += 1
        if not self._peek("("):
            return None
        best = self._tokens[self._at]
        self._skip_group()
        named: list[tuple[str, _Token]] = []
        while not self._peek("=") and self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.text == "(":
                named.append((f"[{self._tokens[self._at + 1].text.lstrip('.')}]", token))
                self._skip_group()
                continue
            if token.word:
                named.extend((part, token) for part in token.text.split("."))
            elif token.text != ".":
                return None
            self._at += 1
        self._at += 1
        for name, token in named:
            if not steps:
                break
            if steps[0] != name:
                return None
            best = token
            steps = steps[1:]
            if steps and isinstance(steps[0], int) and not self._peek("["):
                steps = steps[1:]
        return self._value(steps, best)

    def _value(self, steps: list[str | int], best: _Token) -> _Token | None:
        if not steps or self._at >= len(self._tokens):
            return best
        if self._peek("[") and isinstance(steps[0], int):
            return self._list(steps, best)
        if isinstance(steps[0], int):
            steps = steps[1:]
        if steps and (self._peek("{") or self._peek("<")):
            return self._message(steps, best)
        return best

    def _list(self, steps: list[str | int], best: _Token) -> _Token | None:
        self._at += 1
        for _ in range(int(steps[0])):
            if not self._skip_value():
                return best
            if self._peek(","):
                self._at += 1
        if self._at >= len(self._tokens):
            return best
        return self._value(steps[1:], self._tokens[self._at])

    def _message(self, steps: list[str | int], best: _Token) -> _Token | None:
        close = _CLOSING[self._tokens[self._at].text]
        self._at += 1
        wanted = steps[0]
        rest = steps[1:]
        skip = rest[0] if rest and isinstance(rest[0], int) else 0
        while self._at < len(self._tokens) and not self._peek(close):
            key = self._tokens[self._at]
            name = key.text
            if name == "[":
                name = f"[{self._tokens[self._at + 1].text}]"
                self._skip_group()
            elif key.word:
                self._at += 1
            else:
                return best
            if self._peek(":"):
                self._at += 1
            if name == wanted:
                if self._peek("[") or not skip:
                    return self._value(rest, key)
                skip = int(skip) - 1
            if not self._skip_value():
                return best
            if self._peek(",") or self._peek(";"):
                self._at += 1
        return best

    def _skip_value(self) -> bool:
        if self._at >= len(self._tokens):
            return False
        if self._tokens[self._at].text in _CLOSING:
            self._skip_group()
            return True
        if self._tokens[self._at].text == "-":
            self._at += 1
        self._at += 1
        # Neighbouring strings are one string.
        while self._at < len(self._tokens) and self._tokens[self._at].text[:1] in "\"'":
            self._at += 1
        return True

    def _skip_group(self) -> None:
        depth = 0
        while self._at < len(self._tokens):
            text = self._tokens[self._at].text
            depth += 1 if text in _CLOSING else -1 if text in _CLOSING.values() else 0
            self._at += 1
            if depth == 0:
                return

    def _peek(self, text: str) -> bool:
        return self._at < len(self._tokens) and self._tokens[self._at].text == text
