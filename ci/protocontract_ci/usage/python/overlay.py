"""A copy of a source file in which expressions are wrapped so that a type checker tells their types.

``order.coupon`` becomes ``reveal_type(order).coupon``: the value stays, lines stay, and the checker's answer for a
place is the type of the expression that began there.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Final

_OPEN: Final = "reveal_type("
_CLOSE: Final = ")"


@dataclass
class Source:
    """A parsed file. ``path`` is relative to the folder that is looked at, with slashes."""

    path: str
    text: str
    tree: ast.Module
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    #: All nodes, as ``ast.walk`` gives them: many ask for them, and walking takes longer than reading.
    nodes: list[ast.AST] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _starts: list[int] = field(default_factory=list)

    @classmethod
    def parse(cls, path: str, text: str) -> Source:
        """Raises SyntaxError (ValueError for a null character)."""
        source = cls(path, text, ast.parse(text))
        nodes = source.nodes
        nodes.append(source.tree)
        # The list grows while it is gone through.
        for parent in nodes:
            for child in ast.iter_child_nodes(parent):
                source.parents[child] = parent
                nodes.append(child)
        # As the parser counts lines: not at form feeds or the separators of Unicode.
        at = 0
        for line in text.split("\n"):
            source._lines.append(line)
            source._starts.append(at)
            at += len(line) + 1
        return source

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node around a node."""
        return self.parents.get(node)

    def offset(self, line: int, column: int) -> int:
        """The offset in ``text`` of a place as the parser gives it: lines from 1, columns in bytes of UTF-8."""
        content = self._lines[line - 1]
        if not content.isascii():
            column = len(content.encode()[:column].decode(errors="ignore"))
        return self._starts[line - 1] + column

    def span(self, node: ast.expr) -> tuple[int, int] | None:
        """Where an expression stands in ``text``; None where the parser does not say (parts of f-strings)."""
        if node.end_lineno is None or node.end_col_offset is None:
            return None
        start = self.offset(node.lineno, node.col_offset)
        end = self.offset(node.end_lineno, node.end_col_offset)
        if self._in_f_string(node):
            try:
                again = ast.parse(self.text[start:end].strip(), mode="eval").body
            except (SyntaxError, ValueError):
                return None
            if ast.dump(again) != ast.dump(node):
                return None
        return start, end

    def _in_f_string(self, node: ast.AST) -> bool:
        parent: ast.AST | None = node
        while parent is not None and not isinstance(parent, ast.stmt):
            if isinstance(parent, ast.JoinedStr):
                return True
            parent = self.parents.get(parent)
        return False

    def column(self, node: ast.expr | ast.stmt) -> int:
        """The column of a node in characters, from 1."""
        return self.offset(node.lineno, node.col_offset) - self._starts[node.lineno - 1] + 1


@dataclass
class Overlay:
    """What is asked and changed in one file."""

    source: Source
    wrapped: dict[ast.expr, None] = field(default_factory=dict)
    _insertions: list[tuple[int, str]] = field(default_factory=list)
    _replacements: list[tuple[int, int, str]] = field(default_factory=list)
    _tail: list[str] = field(default_factory=list)

    def ask(self, node: ast.expr) -> None:
        """Have the type of an expression told."""
        if not isinstance(node, ast.Starred | ast.Yield | ast.YieldFrom | ast.GeneratorExp | ast.NamedExpr):
            self.wrapped.setdefault(node)

    def insert(self, offset: int, text: str, tail: str = "") -> None:
        """Put text into a line (an annotation), and a line at the end of the file that it needs."""
        self._insertions.append((offset, text))
        self._tail += [tail] if tail else []

    def replace(self, node: ast.expr, text: str, tail: str) -> None:
        """Put text in the place of an expression, and a line at the end of the file that it needs."""
        span = self.source.span(node)
        if span is not None:
            self._replacements.append((*span, text))
            self._tail.append(tail)

    def render(self) -> tuple[str, dict[tuple[int, int], ast.expr]]:
        """The text for the checker, and which expression begins where in it (line and column from 1)."""
        spans = [(self.source.span(node), node) for node in self.wrapped]
        known = [(*span, node) for span, node in spans if span is not None]
        covered = [(start, end) for start, end, _ in self._replacements]
        known = [each for each in known if not any(start <= each[0] and each[1] <= end for start, end in covered)]
        # At one place: what ends comes before what begins, the wider one is opened first and closed last.
        events: list[tuple[int, int, int, str, ast.expr | None, int]] = []
        for start, end, node in known:
            events.append((start, 1, -end, _OPEN, node, 0))
            events.append((end, 0, -start, _CLOSE, None, 0))
        events += [(offset, 0, 1, text, None, 0) for offset, text in self._insertions]
        events += [(start, 2, 0, text, None, end - start) for start, end, text in self._replacements]
        out: list[str] = []
        places: dict[tuple[int, int], ast.expr] = {}
        position = _Position()
        at = 0
        for offset, _, _, text, asked, skip in sorted(events, key=lambda event: event[:3]):
            out.append(self.source.text[at:offset])
            out.append(text)
            position.move(out[-2])
            position.move(text)
            if asked is not None:
                places[position.line, position.column] = asked
            at = offset + skip
        out.append(self.source.text[at:])
        if self._tail:
            out.append("\n" + "\n".join(dict.fromkeys(self._tail)) + "\n")
        return "".join(out), places


@dataclass
class _Position:
    line: int = 1
    column: int = 1

    def move(self, text: str) -> None:
        breaks = text.count("\n")
        if breaks:
            self.line += breaks
            self.column = len(text) - text.rindex("\n")
        else:
            self.column += len(text)
