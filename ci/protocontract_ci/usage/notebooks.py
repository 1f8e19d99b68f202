"""Makes Python source of a notebook (.ipynb, nbformat 4), and knows for each of its lines where it stands in the file.

Code cells follow each other in one source, as they do in one kernel. Lines that are no Python (magics, shell commands,
cells of another language) become ``pass``, so that lines keep their place.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from protocontract_ci.model import ModuleVerdict, Use
from protocontract_ci.usage.python.reader import Unread
from protocontract_ci.usage.sql_in_python import Embedded

SUFFIX: Final = ".ipynb"
#: Cell magics after which Python follows.
_PYTHON_CELLS: Final = frozenset({"%%time", "%%timeit", "%%capture", "%%prun", "%%python", "%%python3"})
#: Cell magics after which SQL follows, perhaps after words for the magic.
_SQL_CELLS: Final = frozenset({"%%sql", "%%bigquery", "%%sparksql", "%%dql"})
_SQL_LINE: Final = re.compile(r"^\s*(?:\w+\s*<?<?=?\s*)?%sql\s+(?P<sql>.*)$")
_SQL_BEGINS: Final = re.compile(r"\b(?:select|with|insert|update|delete|merge|create)\b.*$", re.IGNORECASE)
_COMMAND: Final = re.compile(r"^(\s*)(?:[%!?].*|[\w.\[\]'\"]+\?{1,2})$")
_ASSIGNED: Final = re.compile(r"^(\s*[\w.,\s\[\]]+?=\s*)[%!][^=].*$")
#: As the parser of Python counts lines: not at form feeds or the separators of Unicode.
_PIECE: Final = re.compile(r"[^\n]*\n|[^\n]+")
_TOKEN: Final = re.compile(r'"(?:\\.|[^"\\])*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)


def python_name(name: str) -> str:
    """What the source of a notebook is called among Python files."""
    return f"{name}.py"


class NotebookError(Exception):
    """A notebook that cannot be read: what is wrong, with the cell where there is one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line of the source stands: line of the file, number of the cell among all cells, line of the cell."""

    line: int
    cell: int
    inside: int


@dataclass(frozen=True)
class Notebook:
    """The Python source of a notebook; ``places`` has one entry for each of its lines.

    ``sql`` is what SQL its magics hold, with lines of the source.
    """

    text: str
    places: Sequence[Place]
    sql: Sequence[Embedded] = ()

    def line(self, line: int) -> int:
        """The line of the file for a line of the source; lines beyond are the last one's."""
        if not self.places or line < 1:
            return line
        return self.places[min(line, len(self.places)) - 1].line

    def lines(self, lines: Sequence[int]) -> tuple[int, ...]:
        """The lines of the file for lines of the source, in order, each once."""
        return tuple(sorted({self.line(line) for line in lines}))

    def named(self, lines: Sequence[int]) -> str:
        """Lines of the source as a reader of the notebook counts them: ``cell 2 line 1, cell 4 line 7``."""
        places = [self.places[line - 1] for line in lines if 1 <= line <= len(self.places)]
        return ", ".join(dict.fromkeys(f"cell {each.cell} line {each.inside}" for each in places))

    def placed(self, verdict: ModuleVerdict) -> ModuleVerdict:
        """A verdict on the source as one on the file: its lines are those of the file, its texts name the cells."""
        findings = tuple(
            replace(
                each, because=self._because(each.because, each.lines), lines=self.lines(each.lines),
                related=self.lines(each.related),
            )
            for each in verdict.findings
        )  # fmt: skip
        return replace(
            verdict, because=self._because(verdict.because, verdict.lines), lines=self.lines(verdict.lines),
            related=self.lines(verdict.related), findings=findings,
        )  # fmt: skip

    def home(self, uses: Iterable[Use], name: str) -> list[Use]:
        """Uses of the source as those of the file of this name."""
        return [
            replace(use, file=name, line=self.line(use.line), origin=self.line(use.origin) if use.origin else 0)
            for use in uses
        ]

    def _because(self, because: str, lines: Sequence[int]) -> str:
        named = self.named(lines)
        return f"{because} ({named})" if named else because


def read_notebook(text: str) -> Notebook:
    """The source of a notebook; an empty one where its kernel is not for Python. Raises NotebookError."""
    try:
        json.loads(text)
        found = _Reader(text).value()
    except (ValueError, RecursionError):
        raise NotebookError("no JSON") from None
    cells = found.get("cells") if isinstance(found, dict) else None
    if not isinstance(cells, list):
        raise NotebookError("no notebook of nbformat 4; expected a list of cells")
    if _language(found) not in ("", "python"):
        return Notebook("", ())
    lines: list[str] = []
    places: list[Place] = []
    sql: list[Embedded] = []
    for number, cell in enumerate(cells, 1):
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        written = list(_lines(cell.get("source")))
        sql += _sql([line for line, _ in written], len(lines) + 1)
        lines += _python([line for line, _ in written], number)
        places += [Place(line, number, inside) for inside, (_, line) in enumerate(written, 1)]
    return Notebook("\n".join(lines) + "\n" if lines else "", tuple(places), tuple(sql))


@dataclass
class Notebooks:
    """The notebooks of a folder by path, and those that cannot be read."""

    read: dict[str, Notebook] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)

    @property
    def texts(self) -> Mapping[str, str]:
        """Their sources, by what they are called among Python files."""
        return {python_name(name): notebook.text for name, notebook in self.read.items()}


def read_notebooks(folder: Path, files: Iterable[str]) -> Notebooks:
    """The notebooks among ``files``, which are paths below ``folder`` with slashes."""
    found = Notebooks()
    for name in files:
        if name.endswith(SUFFIX):
            try:
                found.read[name] = read_notebook((folder / name).read_text(encoding="utf-8"))
            except NotebookError as error:
                found.unread.append(Unread(name, str(error)))
            except (OSError, ValueError) as error:
                found.unread.append(Unread(name, f"not readable ({type(error).__name__})"))
    return found


def code_of(text: str) -> str:
    """The Python source of a notebook; "" where it cannot be read."""
    try:
        return read_notebook(text).text
    except NotebookError:
        return ""


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    for key, name in (("kernelspec", "language"), ("language_info", "name")):
        held = metadata.get(key)
        if isinstance(held, dict) and isinstance(held.get(name), str):
            return str(held[name]).lower()
    return ""


def _lines(source: object) -> Iterator[tuple[str, int]]:
    """The lines of a cell, with the line of the file that each stands on."""
    parts = source if isinstance(source, list) else [source]
    open_line: tuple[str, int] | None = None
    for part in parts:
        if not isinstance(part, _Text):
            continue
        for piece in _PIECE.findall(part):
            held = (open_line[0] + piece, open_line[1]) if open_line is not None else (piece, part.line)
            if piece.endswith("\n"):
                yield held[0].rstrip("\r\n"), held[1]
                open_line = None
            else:
                open_line = held
    if open_line is not None:
        yield open_line


def _sql(lines: Sequence[str], start: int) -> Iterator[Embedded]:
    """The SQL of a cell that begins at a line of the source: the whole of it, or what stands behind ``%sql``."""
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is not None and lines[first].split()[0] in _SQL_CELLS:
        # Before SQL on the first line stand words for the magic.
        opening = _SQL_BEGINS.search(lines[first])
        text = "\n".join([opening[0] if opening is not None else "", *lines[first + 1 :]])
        yield Embedded(text, tuple(range(start + first, start + len(lines))))
        return
    for at, line in enumerate(lines):
        match = _SQL_LINE.match(line)
        if match is not None:
            yield Embedded(match["sql"], (start + at,))


def _python(lines: Sequence[str], cell: int) -> list[str]:
    """The lines of a cell with ``pass`` in the place of what is no Python. Raises NotebookError."""
    first = next((line.split()[0] for line in lines if line.strip()), "")
    if first.startswith("%%") and first not in _PYTHON_CELLS:
        return ["pass"] * len(lines)
    if _error("\n".join(lines)) is None:
        # A line may begin with % in an expression over several lines.
        return list(lines)
    found: list[str] = []
    goes_on = False
    for line in lines:
        command = _COMMAND.match(line)
        if goes_on:
            goes_on = line.rstrip().endswith("\\")
            found.append("")
        elif command is not None:
            goes_on = line.rstrip().endswith("\\")
            found.append(f"{command[1]}pass")
        else:
            found.append(_ASSIGNED.sub(r"\1None", line))
    error = _error("\n".join(found))
    if error is not None:
        raise NotebookError(f"cell {cell} line {error.lineno or 1}: {error.msg}")
    return found


def _error(text: str) -> SyntaxError | None:
    try:
        ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError):
        return SyntaxError("not readable")
    return None


class _Text(str):
    """A text of a JSON file that knows its line there."""

    __slots__ = ("line",)
    line: int


class _Reader:
    """Reads JSON that is known to be valid; texts keep their lines, which the json module does not tell."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_with_lines(text))
        self._at = 0

    def _next(self) -> tuple[str, int]:
        self._at += 1
        return self._tokens[self._at - 1]

    def value(self) -> Any:
        """The next value."""
        said, line = self._next()
        if said == "{":
            return dict(self._members())
        if said == "[":
            return list(self._items())
        if said.startswith('"'):
            text = _Text(json.loads(said, strict=False))
            text.line = line
            return text
        return json.loads(said)

    def _items(self) -> Iterator[Any]:
        while self._tokens[self._at][0] != "]":
            yield self.value()
            if self._tokens[self._at][0] == ",":
                self._at += 1
        self._at += 1

    def _members(self) -> Iterator[tuple[str, Any]]:
        while self._tokens[self._at][0] != "}":
            key = self.value()
            self._at += 1
            yield str(key), self.value()
            if self._tokens[self._at][0] == ",":
                self._at += 1
        self._at += 1


def _with_lines(text: str) -> Iterator[tuple[str, int]]:
    line, at = 1, 0
    for match in _TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        yield match[0], line
