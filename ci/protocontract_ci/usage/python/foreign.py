"""Values that are no message, though no type checker knows what they are: they come from packages that are not there to
be looked at, or from parts of the standard library that know nothing of messages.
"""

from __future__ import annotations

import ast
import sys
from functools import lru_cache
from typing import Final

from protocontract_ci.usage.python.names import Names
from protocontract_ci.usage.python.overlay import Source

#: Modules of the standard library that hand on what they are given, so that a message may come out.
_HANDING_ON: Final = frozenset(
    {
        *("asyncio", "builtins", "collections", "concurrent", "contextlib", "contextvars", "copy", "ctypes"),
        *("dataclasses", "functools", "heapq", "importlib", "inspect", "itertools", "json", "marshal", "operator"),
        *("multiprocessing", "pickle", "queue", "random", "runpy", "sched", "shelve", "threading", "types", "typing"),
        *("unittest", "weakref"),
    }
)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_foreign(node: ast.expr, source: Source, names: Names) -> bool:
    """Whether an expression begins with a parameter of such a type, or with what such a function gave."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Await):
        if isinstance(node, ast.Call) and _of_library(node.func, names):
            return True
        node = node.func if isinstance(node, ast.Call) else node.value
    if not isinstance(node, ast.Name):
        return False
    scope = source.parent(node)
    while scope is not None:
        if isinstance(scope, _Function | ast.Lambda):
            arguments = scope.args
            for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
                if each.arg == node.id:
                    return each.annotation is not None and _of_package(each.annotation, names)
        if isinstance(scope, _Function | ast.Module):
            values = _bindings(scope).get(node.id)
            if values:
                return all(isinstance(each, ast.Call) and _of_library(each.func, names) for each in values)
        scope = source.parent(scope)
    return False


@lru_cache(maxsize=64)
def _bindings(scope: ast.AST) -> dict[str, list[ast.expr | None]]:
    """What names are bound to in a function or file: values of assignments and of ``with``; None for anything else."""
    found: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(scope):
        pairs: list[tuple[ast.expr | None, ast.expr | None]] = []
        if isinstance(node, ast.Assign):
            pairs = [(target, node.value) for target in node.targets]
        elif isinstance(node, ast.AnnAssign):
            pairs = [(node.target, node.value)]
        elif isinstance(node, ast.withitem):
            pairs = [(node.optional_vars, node.context_expr)]
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension | ast.NamedExpr):
            pairs = [(node.target, None)]
        for target, value in pairs:
            for each in ast.walk(target) if target is not None else ():
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                    found.setdefault(each.id, []).append(value if each is target else None)
    return found


def _of_library(function: ast.expr, names: Names) -> bool:
    """Whether a function is of a part of the standard library that knows nothing of messages."""
    while isinstance(function, ast.Attribute):
        function = function.value
    module = names.packages.get(function.id, "") if isinstance(function, ast.Name) else ""
    return module in sys.stdlib_module_names and module not in _HANDING_ON


def _of_package(annotation: ast.expr, names: Names) -> bool:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return False
    while isinstance(annotation, ast.Attribute):
        annotation = annotation.value
    return isinstance(annotation, ast.Name) and annotation.id in names.packages
