"""Numbers that a file compares times with, waits for or works by: its own idea of how late is too late."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_UNITS: Final = {
    "microseconds": 1e-6, "milliseconds": 1e-3, "seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86_400.0,
    "weeks": 604_800.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number where it is used: in a comparison, or given to a call. ``origin`` is the line of its constant."""

    line: int
    value: float
    compared: bool
    origin: int = 0


def thresholds(tree: ast.Module) -> Iterator[Threshold]:
    """The numbers of a file that are compared with something or given to a function; 0 and 1 say nothing."""
    constants = {
        target.id: (value, node.lineno)
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and (value := _number(node.value)) is not None
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(isinstance(side, ast.Call) and getattr(side.func, "id", "") == "len" for side in sides):
                # How many there are is no time.
                continue
            for each in sides:
                yield from _found(each, constants, compared=True)
        elif isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) != "timedelta":
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                yield from _found(each, constants, compared=False)


def _found(node: ast.expr, constants: dict[str, tuple[float, int]], *, compared: bool) -> Iterator[Threshold]:
    value = _number(node)
    if value is not None and value not in (0, 1):
        yield Threshold(node.lineno, value, compared)
    elif isinstance(node, ast.Name) and node.id in constants:
        yield Threshold(node.lineno, constants[node.id][0], compared, constants[node.id][1])


def _number(node: ast.expr) -> float | None:
    """The value of a number, of a product or sum of numbers, or of a timedelta in seconds."""
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return float(value)
        case ast.BinOp(left=left, op=ast.Mult() | ast.Add() as operator, right=right):
            first, second = _number(left), _number(right)
            if first is None or second is None:
                return None
            return first * second if isinstance(operator, ast.Mult) else first + second
        case ast.Call(func=ast.Name(id="timedelta") | ast.Attribute(attr="timedelta"), keywords=keywords):
            parts = [(_UNITS.get(keyword.arg or ""), _number(keyword.value)) for keyword in keywords]
            known = [unit * value for unit, value in parts if unit is not None and value is not None]
            return sum(known) if known and len(known) == len(parts) else None
    return None
