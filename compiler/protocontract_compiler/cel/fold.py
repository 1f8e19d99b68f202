"""Evaluates operations on constants, with the very functions that the emitted code calls."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import re2

from protocontract import _cel
from protocontract_compiler.ir_cel import Call, Compare, Expr, In, Literal

_INLINE: Final[dict[str, Callable[..., Any]]] = {
    "add_double": operator.add,
    "add_nanos": operator.add,
    "concat": operator.add,
    "contains": lambda text, part: part in text,
    "double_of_int": float,
    "ends_with": lambda text, suffix: text.endswith(suffix),
    "int_of_bool": int,
    "is_nan": lambda value: value != value,
    "mul_double": operator.mul,
    "neg_double": operator.neg,
    "reverse": lambda text: text[::-1],
    "size": len,
    "starts_with": lambda text, prefix: text.startswith(prefix),
    "string_of_int": str,
    "sub_double": operator.sub,
    "sub_nanos": operator.sub,
    "bytes_of_string": lambda text: text.encode(),
    "utf8_size": lambda text: len(text.encode()),
}

_COMPARE: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}

_NOT_FOLDED: Final = frozenset({"index_list", "index_map", "concat_list"})


def fold(expr: Expr) -> Expr:
    """``expr`` with its operands known to be folded, as a literal if they are constants and nothing fails."""
    match expr:
        case Compare(op=op, left=Literal(value=left), right=Literal(value=right)):
            if expr.mixed:
                left, right = float(left), float(right)  # type: ignore[arg-type]  # mixed: both are numbers
            return Literal(expr.type, _COMPARE[op](left, right))
        case In(item=Literal(value=item), container=Literal(value=container)) if isinstance(container, tuple):
            if expr.container.type.kind == "map":
                return Literal(expr.type, any(isinstance(pair, tuple) and item == pair[0] for pair in container))
            return Literal(expr.type, any(item == member for member in container))
        case Call(op=op, args=args) if op not in _NOT_FOLDED and all(isinstance(arg, Literal) for arg in args):
            return _call(expr, op, [arg.value for arg in args if isinstance(arg, Literal)])
        case _:
            return expr


def _call(expr: Call, op: str, values: list[Any]) -> Expr:
    if op == "matches":
        return Literal(expr.type, re2.search(values[1], values[0]) is not None)
    function = _INLINE.get(op) or getattr(_cel, f"cel_{op}")
    try:
        value = function(*values)
    except _cel.CelRuntimeError:
        return expr  # an error of evaluation: it happens when the rule is evaluated, if it is
    return Literal(expr.type, tuple(value) if isinstance(value, list) else value)
