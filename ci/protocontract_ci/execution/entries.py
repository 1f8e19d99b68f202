"""Which functions of a file may be run, and with what.

A function is run without being named only where nothing in its file can reach outside: its imports are on a list, it
names nothing that opens or executes, and every parameter says what it takes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from protocontract_ci.execution.runner import Argument
from protocontract_ci.execution.samples import FLOATS, NUMBERS, TEXTS
from protocontract_ci.usage.python.names import Names

#: Modules that compute and do nothing else.
_PURE: Final = frozenset(
    (
        "__future__", "abc", "array", "base64", "binascii", "bisect", "calendar", "collections", "colorsys", "copy",
        "dataclasses", "datetime", "decimal", "difflib", "enum", "fractions", "functools", "hashlib", "heapq", "hmac",
        "html", "itertools", "json", "keyword", "math", "numbers", "operator", "re", "statistics", "string", "struct",
        "textwrap", "time", "types", "typing", "typing_extensions", "unicodedata", "uuid", "zlib", "zoneinfo",
        "google", "protovalidate", "numpy",
    )
)  # fmt: skip
_FORBIDDEN: Final = frozenset(
    ("open", "exec", "eval", "compile", "__import__", "input", "breakpoint", "globals", "exit", "quit", "vars")
)
#: Most calls of one function.
_MOST_CALLS: Final = 72


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: "message" or "raw" (bytes of a message) with the message's name, or a plain type."""

    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A function that may be run. ``lines`` are its first and last."""

    name: str
    parameters: tuple[Parameter, ...]
    lines: tuple[int, int]
    returns: str = ""

    def holds(self, line: int) -> bool:
        """Whether a line is the function's."""
        return self.lines[0] <= line <= self.lines[1]

    @property
    def takes(self) -> tuple[str, ...]:
        """The messages that it takes, as objects or as bytes."""
        return tuple(each.message for each in self.parameters if each.message)


def find_entries(tree: ast.Module, names: Names) -> list[Entry]:
    """The functions of a file that may be run."""
    if not _is_pure(tree, names):
        return []
    return [
        entry for node in tree.body if isinstance(node, ast.FunctionDef) and (entry := _entry(node, names)) is not None
    ]


def _is_pure(tree: ast.Module, names: Names) -> bool:
    contracts = {imported.node for imported in names.imports}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and node not in contracts:
            if any(alias.name.split(".")[0] not in _PURE for alias in node.names):
                return False
        elif isinstance(node, ast.ImportFrom) and node not in contracts:
            if node.level or (node.module or "").split(".")[0] not in _PURE:
                return False
        elif isinstance(node, ast.Name) and node.id in _FORBIDDEN:
            return False
    return True


def _entry(node: ast.FunctionDef, names: Names) -> Entry | None:
    arguments = node.args
    if arguments.vararg or arguments.kwarg or node.decorator_list:
        return None
    defaults = len(arguments.defaults)
    positional = [*arguments.posonlyargs, *arguments.args]
    needed = positional[: len(positional) - defaults] if defaults else positional
    if any(default is None for default in arguments.kw_defaults):
        return None
    parameters = []
    for each in needed:
        parameter = _parameter(each, node, names)
        if parameter is None:
            return None
        parameters.append(parameter)
    returned = names.resolve(node.returns) if node.returns is not None else None
    returns = returned.name if returned is not None and returned.kind == "message" else ""
    return Entry(node.name, tuple(parameters), (node.lineno, node.end_lineno or node.lineno), returns)


def _parameter(parameter: ast.arg, function: ast.FunctionDef, names: Names) -> Parameter | None:
    annotation = parameter.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    if annotation is None:
        return None
    bound = names.resolve(annotation)
    if bound is not None:
        return Parameter("message", bound.name) if bound.kind == "message" else None
    kind = annotation.id if isinstance(annotation, ast.Name) else ""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name):
        kind = annotation.value.id
    if kind == "bytes":
        return Parameter("raw", _parsed_as(parameter.arg, function, names))
    return Parameter(kind) if kind in ("str", "int", "float", "bool", "list", "dict") else None


def _parsed_as(name: str, function: ast.FunctionDef, names: Names) -> str:
    """The message that bytes are parsed as: ``Order.FromString(raw)``, ``order.ParseFromString(raw)``."""
    variables: dict[str, str] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.targets[0], ast.Name):
            bound = names.resolve(node.value.func)
            if bound is not None and bound.kind == "message":
                variables[node.targets[0].id] = bound.name
    for node in ast.walk(function):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        argument = node.args[0]
        if not isinstance(argument, ast.Name) or argument.id != name:
            continue
        if node.func.attr in ("FromString", "ParseFromString", "MergeFromString"):
            bound = names.resolve(node.func.value)
            if bound is not None and bound.kind == "message":
                return bound.name
            if isinstance(node.func.value, ast.Name):
                return variables.get(node.func.value.id, "")
    return ""


def arguments(entry: Entry, messages: Mapping[str, Sequence[bytes]]) -> Iterator[tuple[Argument, ...]]:
    """Arguments for a function. ``messages``: what each message that it takes is given, by its name.

    One parameter runs through all of its values; several ones run through few, each with each.
    """
    few = len(entry.parameters) > 1
    columns = [_values(each, messages, few=few) for each in entry.parameters]
    for count, row in enumerate(product(*columns)):
        if count >= _MOST_CALLS:
            return
        yield row


def _values(parameter: Parameter, messages: Mapping[str, Sequence[bytes]], *, few: bool) -> list[Argument]:
    if parameter.message:
        kind = "message" if parameter.kind == "message" else "bytes"
        given = list(messages.get(parameter.message, ()))
        return [Argument(kind, data, parameter.message) for data in (given[:12] if few else given)]
    values: Sequence[Any]
    match parameter.kind:
        case "str":
            values = ["abc", "x" * 300, "", "AB", "EUR", "é", "x" * 33] if few else TEXTS
        case "int":
            values = [1, 0, -1, 100, 2**31] if few else NUMBERS
        case "float":
            values = FLOATS[:5]
        case "bool":
            values = [False, True]
        case "list":
            values = [["a"], [], ["a", "b"], ["b", "c"]]
        case "dict":
            values = [{}, {"a": "b"}]
        case _:
            values = [b"", b"a"]
    return [Argument("bytes" if isinstance(value, bytes) else "plain", value) for value in values]
