"""Which functions of a file may be run, and with what.

A function is run without being named only where nothing in its file can reach outside: its imports are on a list, it
names nothing that opens or executes, and every parameter says what it takes. Named are functions that carry a mark of
``protocontract.testing`` (it is read in the source, nothing is imported for it) and those that modules.toml lists.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import isfinite
from pathlib import PurePosixPath
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
#: The marks, by the names under which they can be imported: the role.
_MARKS: Final = {
    f"protocontract.testing{module}.{role}": role for module in ("", ".marks") for role in ("reader", "writer")
}
#: Types of parameters that a list of what is in them may be given to.
_LISTS: Final = frozenset(
    ("list", "List", "Iterable", "Sequence", "Collection", "MutableSequence", "tuple", "Tuple")
)  # fmt: skip
#: Most calls of one function.
_MOST_CALLS: Final = 72
#: How many values by which two states differ each of several parameters is given.
_FEW_TELLING: Final = 3


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter: "message", "messages" (a list of them) or "raw" (bytes) with the message's name, or a plain type."""

    kind: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A function that may be run. ``lines`` are its first and last; ``named``: somebody said that it may be."""

    name: str
    parameters: tuple[Parameter, ...]
    lines: tuple[int, int]
    returns: str = ""
    named: bool = False

    def holds(self, line: int) -> bool:
        """Whether a line is the function's; a named one stands for its file, whose other functions it may call."""
        return self.named or self.lines[0] <= line <= self.lines[1]

    @property
    def takes(self) -> tuple[str, ...]:
        """The messages that it takes, as objects or as bytes."""
        return tuple(each.message for each in self.parameters if each.message)


def find_entries(tree: ast.Module, names: Names, named: Collection[str] = ()) -> list[Entry]:
    """The functions of a file that may be run. ``named``: those that modules.toml names as entry points of the file."""
    pure = _is_pure(tree, names)
    imported = _imported(tree)
    found = []
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        mark = next((each for each in map(partial(_mark, imported=imported), node.decorator_list) if each), None)
        if mark is not None:
            entry = _marked(node, names, mark)
        elif node.name in named:
            entry = _entry(node, names, named=True)
        else:
            entry = _entry(node, names) if pure else None
        if entry is not None:
            found.append(entry)
    return found


def entry_points_of(entry_points: Iterable[str], file: str) -> frozenset[str]:
    """The functions that entry points (``package.module:function``) name in a file, given by its path.

    The module may be written from any folder above the file: ``app.ledger:book`` names book in ``src/app/ledger.py`` or
    ``src/app/ledger.ts``.
    """
    dotted = file.removesuffix(PurePosixPath(file).suffix).removesuffix("/__init__").replace("/", ".")
    pairs = (each.partition(":") for each in entry_points)
    return frozenset(name for module, _, name in pairs if dotted == module or dotted.endswith(f".{module}"))


@dataclass(frozen=True, slots=True)
class _Mark:
    role: str
    message: str
    arguments: bool


def _imported(tree: ast.Module) -> dict[str, str]:
    """What the names of imports at the top of a file stand for, dotted."""
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                found[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
    return found


def _mark(decorator: ast.expr, imported: Mapping[str, str]) -> _Mark | None:
    if not isinstance(decorator, ast.Call) or not decorator.args:
        return None
    first, _, rest = ast.unparse(decorator.func).partition(".")
    role = _MARKS.get(".".join(each for each in (imported.get(first, first), rest) if each))
    message = decorator.args[0]
    if role is None or not isinstance(message, ast.Constant) or not isinstance(message.value, str):
        return None
    return _Mark(role, message.value, any(each.arg == "arguments" for each in decorator.keywords))


def _marked(node: ast.FunctionDef, names: Names, mark: _Mark) -> Entry | None:
    lines = (node.lineno, node.end_lineno or node.lineno)
    if mark.role == "writer":
        if mark.arguments:
            return Entry(node.name, (), lines, mark.message, named=True)
        entry = _entry(node, names, named=True)
        return None if entry is None else replace(entry, returns=mark.message)
    first = next(iter((*node.args.posonlyargs, *node.args.args)), None)
    raw = first is not None and isinstance(first.annotation, ast.Name) and first.annotation.id == "bytes"
    kind = "raw" if raw and not mark.arguments else "message"
    return Entry(node.name, (Parameter(kind, mark.message),), lines, named=True)


def _is_pure(tree: ast.Module, names: Names) -> bool:
    contracts = {imported.node for imported in names.imports}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import) and node not in contracts:
            if any(not _computes(alias.name) for alias in node.names):
                return False
        elif isinstance(node, ast.ImportFrom) and node not in contracts:
            if node.level or not _computes(node.module or ""):
                return False
        elif isinstance(node, ast.Name) and node.id in _FORBIDDEN:
            return False
    return True


def _computes(module: str) -> bool:
    """Whether a module does nothing but compute; a file with marks is otherwise judged like any."""
    return module.split(".")[0] in _PURE or module in ("protocontract.testing", "protocontract.testing.marks")


def _entry(node: ast.FunctionDef, names: Names, *, named: bool = False) -> Entry | None:
    arguments = node.args
    if arguments.vararg or arguments.kwarg or (node.decorator_list and not named):
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
    return Entry(node.name, tuple(parameters), (node.lineno, node.end_lineno or node.lineno), returns, named)


def _parameter(parameter: ast.arg, function: ast.FunctionDef, names: Names) -> Parameter | None:
    annotation = parameter.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return None
    if annotation is None:
        return None
    annotation = _not_none(annotation)
    bound = names.resolve(annotation)
    if bound is not None:
        return Parameter("message", bound.name) if bound.kind == "message" else None
    item = names.resolve(_item(annotation))
    if item is not None:
        return Parameter("messages", item.name) if item.kind == "message" else None
    kind = annotation.id if isinstance(annotation, ast.Name) else ""
    if isinstance(annotation, ast.Subscript) and isinstance(annotation.value, ast.Name):
        kind = annotation.value.id
    if kind == "bytes":
        return Parameter("raw", _parsed_as(parameter.arg, function, names))
    return Parameter(kind) if kind in ("str", "int", "float", "bool", "list", "dict") else None


def _not_none(annotation: ast.expr) -> ast.expr:
    """What else than None a parameter may be: ``Order | None``, ``Optional[Order]``."""
    match annotation:
        case ast.BinOp(left=kept, op=ast.BitOr(), right=ast.Constant(value=None)):
            return kept
        case ast.BinOp(left=ast.Constant(value=None), op=ast.BitOr(), right=kept):
            return kept
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=kept):
            return kept
    return annotation


def _item(annotation: ast.expr) -> ast.expr:
    """What is in a list: ``list[Order]``, ``Iterable[Order]``, ``tuple[Order, ...]``; else the annotation itself."""
    match annotation:
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inside) if name in _LISTS:
            match inside:
                case ast.Tuple(elts=[first, ast.Constant(value=value)]) if value is Ellipsis:
                    return first
            return inside
    return annotation


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


def arguments(
    entry: Entry, messages: Mapping[str, Sequence[bytes]], telling: Sequence[object] = ()
) -> Iterator[tuple[Argument, ...]]:
    """Arguments for a function. ``messages``: what each message that it takes is given, by its name.

    One parameter runs through all of its values; several ones run through few, each with each. ``telling`` are values
    by which two states differ: parameters of their types are given them too, for no ordinary value may be one of them.
    """
    few = len(entry.parameters) > 1
    columns = [_values(each, messages, telling, few=few) for each in entry.parameters]
    for count, row in enumerate(product(*columns)):
        if count >= _MOST_CALLS:
            return
        yield row


def _values(
    parameter: Parameter, messages: Mapping[str, Sequence[bytes]], telling: Sequence[object], *, few: bool
) -> list[Argument]:
    if parameter.message:
        kind = parameter.kind if parameter.kind in ("message", "messages") else "bytes"
        given = list(messages.get(parameter.message, ()))
        return [Argument(kind, data, parameter.message) for data in (given[:12] if few else given)]
    values: Sequence[Any]
    match parameter.kind:
        case "str":
            values = ["abc", "x" * 300, "", "AB", "EUR", "é", "x" * 33] if few else TEXTS
        case "int":
            values = [1, 0, -1, 100, 2**31] if few else NUMBERS
        case "bigint":
            values = [str(each) for each in ([1, 0, -1, 100, 2**31] if few else NUMBERS)]
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
    kind = "bigint" if parameter.kind == "bigint" else "plain"
    own = _fitting(parameter.kind, telling)
    values = [*values, *(own[:_FEW_TELLING] if few else own)]
    return [Argument("bytes" if isinstance(value, bytes) else kind, value) for value in values]


def _fitting(kind: str, telling: Sequence[object]) -> list[Any]:
    """Those of the values that a parameter of a plain type takes."""
    match kind:
        case "int":
            return [each for each in telling if type(each) is int]
        case "bigint":
            return [str(each) for each in telling if type(each) is int]
        case "float":
            numbers = (float(each) for each in telling if isinstance(each, int | float) and type(each) is not bool)
            return [each for each in numbers if isfinite(each)]
        case "str":
            return [each for each in telling if isinstance(each, str)]
    return []
