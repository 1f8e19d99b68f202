"""D10: constants that a file imports from other files that are read (``from .fields import TOTAL``)."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from protocontract_ci.usage.python.overlay import Source


def imported_constants(sources: Mapping[str, Source]) -> dict[str, dict[str, ast.expr]]:
    """Texts, numbers and rows of them that files import from one another, by file and by the name there.

    Each stands at the line of its import: lines are of the file that they are used in.
    """
    held = {path: dict(_constants(source.tree)) for path, source in sources.items()}
    found: dict[str, dict[str, ast.expr]] = {}
    for path, source in sources.items():
        for node in ast.walk(source.tree):
            if not isinstance(node, ast.ImportFrom):
                continue
            for alias in node.names:
                given = [held[each][alias.name] for each in _files(path, node, held) if alias.name in held[each]]
                # Two files that may be meant by one name mean nothing together.
                if len(given) == 1:
                    found.setdefault(path, {})[alias.asname or alias.name] = _at(given[0], node.lineno)
    return found


def _constants(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    bound = Counter(
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    for statement in tree.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        value: ast.expr | None = getattr(statement, "value", None)
        for target in targets:
            # A name that is bound again is no constant.
            if value is not None and _is_plain(value) and isinstance(target, ast.Name) and bound[target.id] == 1:
                yield target.id, value


def _is_plain(value: ast.expr) -> bool:
    if isinstance(value, ast.Tuple | ast.List | ast.Set):
        return all(_is_plain(each) for each in value.elts)
    return isinstance(value, ast.Constant) and isinstance(value.value, str | int)


def _files(path: str, node: ast.ImportFrom, known: Mapping[str, object]) -> list[str]:
    """The files that an import may mean: by the folder that it is relative to, or by the end of a path."""
    dotted = (node.module or "").replace(".", "/")
    if node.level:
        around = PurePosixPath(path).parents[node.level - 1] if node.level <= len(PurePosixPath(path).parents) else None
        if around is None:
            return []
        inner = str(around / dotted) if dotted else str(around)
        return [each for each in known if each in (f"{inner}.py", f"{inner}/__init__.py")]
    ends = (f"{dotted}.py", f"{dotted}/__init__.py")
    return [each for each in known if any(each == end or each.endswith(f"/{end}") for end in ends)]


def _at(value: ast.expr, line: int) -> ast.expr:
    copied = copy.deepcopy(value)
    for node in ast.walk(copied):
        if isinstance(node, ast.expr):
            node.lineno = node.end_lineno = line
    return copied
