"""Values that are no message, though no type checker knows what they are: they come from packages that are not there to
be looked at, or from parts of the standard library that know nothing of messages.
"""

from __future__ import annotations

import ast
import sys
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
            values = list(_bound_to(scope, node.id))
            if values:
                return all(isinstance(each, ast.Call) and _of_library(each.func, names) for each in values)
        scope = source.parent(scope)
    return False


def _bound_to(scope: ast.AST, name: str) -> list[ast.expr | None]:
    """What a name is bound to in a function or file: values of assignments and of ``with``; None for anything else."""
    found: list[ast.expr | None] = []
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found += [node.value for each in targets if isinstance(each, ast.Name) and each.id == name]
            held = (inner for each in targets if isinstance(each, ast.Tuple | ast.List) for inner in ast.walk(each))
            found += [None for each in held if isinstance(each, ast.Name) and each.id == name]
        elif isinstance(node, ast.withitem):
            target = node.optional_vars
            found += [node.context_expr] if isinstance(target, ast.Name) and target.id == name else []
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension | ast.NamedExpr):
            found += [None for each in ast.walk(node.target) if isinstance(each, ast.Name) and each.id == name]
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
