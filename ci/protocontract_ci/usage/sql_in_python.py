"""Finds SQL in Python source: texts that are given to what executes them, with the source's line for each of theirs.

What a text is made of is followed as far as it is written in the file: constants, pieces that follow each other or are
added, f-strings, ``%`` and ``format`` (what they put in is a placeholder), ``dedent`` and ``strip``.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from protocontract_ci.usage.python.overlay import Source

#: Functions and methods whose first argument is SQL: of Spark, DB-API, pandas, SQLAlchemy, asyncpg, DuckDB, BigQuery.
_EXECUTES: Final = frozenset(
    (
        "sql", "execute", "executemany", "executescript", "read_sql", "read_sql_query", "query", "text", "raw", "fetch",
        "fetchrow", "fetchval", "copy_expert", "from_query", "run_query", "exec_driver_sql", "read_database", "prepare",
    )
)  # fmt: skip
_KEYWORDS: Final = frozenset(("sql", "query", "statement", "operation", "sqlQuery"))
_IS_SQL: Final = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*(?:select|insert|update|delete|merge|with|create|copy|replace|explain)\b.*\s",
    re.IGNORECASE | re.DOTALL,
)
_MAY_HOLD: Final = re.compile(r"\b(?:select|insert|update|delete|merge)\b", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(r"%\(\w+\)s|%s")
_REPLACED: Final = re.compile(r"\{[^{}]*\}")
_FILLED: Final = "template"
_APART: Final = frozenset(" \t\n,()=")
_PASSES: Final = frozenset(("dedent", "cleandoc", "strip", "lstrip", "rstrip", "format"))

_Piece: TypeAlias = tuple[str, int, bool]
"""A text, the line that it begins on, and whether its line breaks are those of the source."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """SQL with the line of the file for each of its lines."""

    text: str
    places: tuple[int, ...]

    def line(self, line: int) -> int:
        """The line of the file for a line of the SQL; 0 stays what it is."""
        return self.places[min(line, len(self.places)) - 1] if line > 0 and self.places else line


def may_hold(text: str) -> bool:
    """Whether source may have SQL in it. Cheaper than to look."""
    return _MAY_HOLD.search(text) is not None


def find_sql(source: Source) -> Iterator[Embedded]:
    """The SQL in a file, in the order of its calls."""
    if not may_hold(source.text):
        return
    constants = _constants(source.tree)
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Call) or getattr(node.func, "attr", getattr(node.func, "id", "")) not in _EXECUTES:
            continue
        given = [*node.args[:1], *(each.value for each in node.keywords if each.arg in _KEYWORDS)]
        for argument in given:
            pieces = _pieces(argument, source.text, constants)
            embedded = _joined(pieces) if pieces else None
            if embedded is not None and _IS_SQL.match(embedded.text):
                yield embedded


def _joined(pieces: list[_Piece]) -> Embedded:
    text = ""
    places = [pieces[0][1]]
    for piece, line, goes_on in pieces:
        if not text or text.endswith("\n"):
            places[-1] = line
        elif line != places[-1]:
            # A line of its own, where white space does not change what is said: not within a word or a quoted text.
            apart = text[-1] in _APART or piece[:1] in _APART
            if apart and text.count("'") % 2 == 0:
                text += "\n"
                places.append(line)
        for count, part in enumerate(piece.split("\n")):
            if count:
                text += "\n"
                places.append(line + (count if goes_on else 0))
            text += part
    return Embedded(text, tuple(places))


def _pieces(node: ast.expr, text: str, constants: Mapping[str, ast.expr], depth: int = 0) -> list[_Piece]:
    """What a text is made of; nothing where that is not known."""
    if depth > 8:
        return []
    match node:
        case ast.Constant(value=str()):
            return _written(node, text)
        case ast.JoinedStr(values=values):
            parts = [each.value if isinstance(each, ast.Constant) else _FILLED for each in values]
            is_long = (node.end_lineno or node.lineno) > node.lineno
            return [("".join(map(str, parts)), node.lineno, is_long)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first = _pieces(left, text, constants, depth + 1)
            second = _pieces(right, text, constants, depth + 1) or [(f" {_FILLED} ", right.lineno, False)]
            return [*first, *second] if first else []
        case ast.BinOp(left=left, op=ast.Mod()):
            return _pieces(left, text, constants, depth + 1)
        case ast.Call(func=ast.Attribute(value=value, attr=name), args=args) if name in _PASSES:
            # textwrap.dedent(text), or text.strip().
            pieces = _pieces(value, text, constants, depth + 1)
            if not pieces and args:
                pieces = _pieces(args[0], text, constants, depth + 1)
            return (
                [(_REPLACED.sub(_FILLED, each), line, on) for each, line, on in pieces] if name == "format" else pieces
            )
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _PASSES | _EXECUTES:
            return _pieces(first, text, constants, depth + 1)
        case ast.Name(id=name) if name in constants:
            return _pieces(constants[name], text, constants, depth + 1)
    return []


def _written(node: ast.Constant, text: str) -> list[_Piece]:
    """A constant as the literals that it is written with, which may follow each other over lines."""
    segment = ast.get_source_segment(text, node) or ""
    found: list[_Piece] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(f"({segment})").readline):
            if token.type == tokenize.STRING:
                value = ast.literal_eval(token.string)
                spans = token.end[0] - token.start[0]
                found.append((value, node.lineno + token.start[0] - 1, value.count("\n") == spans and spans > 0))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return [(str(node.value), node.lineno, False)]
    return [(_PLACEHOLDER.sub("?", value), line, on) for value, line, on in found]


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """What the names of a file stand for that are assigned once in it."""
    found: dict[str, ast.expr] = {}
    again: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            again.add(node.target.id)
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            if isinstance(target, ast.Name):
                if target.id in found:
                    again.add(target.id)
                found[target.id] = node.value
    return {name: value for name, value in found.items() if name not in again}
