"""Recognises the macros again that the parser expanded into folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from protocontract_compiler.cel.checked import Node


@dataclass(frozen=True, slots=True)
class Comprehension:
    """A macro call: what it is, its variable, and the nodes of its parts."""

    kind: Choice["all", "exists", "exists_one", "map", "filter"]
    variable: str
    range: Node
    body: Node
    where: Node | None = None


def recognise(node: Node) -> Comprehension | None:
    """The macro that a comprehension node came from, or ``None`` for any other fold."""
    if node.iter_var2:
        return None
    accumulator, step, result = node.accu_var, node.loop_step, node.result
    variable, range_ = node.iter_var, node.iter_range
    if _is_constant(node.accu_init, "bool_value") and _is_name(result, accumulator):
        if node.accu_init.const_expr.bool_value:
            pair = _call(step, "_&&_", 2)
            if pair and _is_name(pair[0], accumulator):
                return Comprehension("all", variable, range_, pair[1])
        else:
            pair = _call(step, "_||_", 2)
            if pair and _is_name(pair[0], accumulator):
                return Comprehension("exists", variable, range_, pair[1])
    choice = _call(step, "_?_:_", 3)
    if _is_constant(node.accu_init, "int64_value") and choice and _is_name(choice[2], accumulator):
        compared = _call(result, "_==_", 2)
        if compared and _is_name(compared[0], accumulator) and _increments(choice[1], accumulator):
            return Comprehension("exists_one", variable, range_, choice[0])
    if node.accu_init.WhichOneof("kind") == "list_expr" and _is_name(result, accumulator):
        if choice and _is_name(choice[2], accumulator):
            item = _appended(choice[1], accumulator)
            if item is not None:
                if _is_name(item, variable):
                    return Comprehension("filter", variable, range_, choice[0])
                return Comprehension("map", variable, range_, item, choice[0])
        item = _appended(step, accumulator)
        if item is not None:
            return Comprehension("map", variable, range_, item)
    return None


def _is_name(node: Node, name: str) -> bool:
    return bool(node.WhichOneof("kind") == "ident_expr" and node.ident_expr.name == name)


def _is_constant(node: Node, kind: str) -> bool:
    return bool(node.WhichOneof("kind") == "const_expr" and node.const_expr.WhichOneof("kind") == kind)


def _call(node: Node, function: str, count: int) -> list[Node] | None:
    if node.WhichOneof("kind") != "call_expr" or node.call_expr.function != function:
        return None
    arguments = list(node.call_expr.args)
    return arguments if len(arguments) == count else None


def _increments(node: Node, accumulator: str) -> bool:
    pair = _call(node, "_+_", 2)
    return pair is not None and _is_name(pair[0], accumulator) and _is_constant(pair[1], "int64_value")


def _appended(node: Node, accumulator: str) -> Node | None:
    pair = _call(node, "_+_", 2)
    if not pair or not _is_name(pair[0], accumulator) or pair[1].WhichOneof("kind") != "list_expr":
        return None
    items = pair[1].list_expr.elements
    return items[0] if len(items) == 1 else None
