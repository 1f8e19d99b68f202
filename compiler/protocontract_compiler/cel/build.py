"""Builds nodes from operands: overloads, folding, and the simplifications that keep rules readable.

Every function takes operands that are folded already and returns a folded node, so one pass from the leaves up leaves
nothing of the contract's constants behind.
"""

from __future__ import annotations

from typing import Final

from protocontract_compiler.cel import overloads, times
from protocontract_compiler.cel.errors import Untranslatable
from protocontract_compiler.cel.fold import fold
from protocontract_compiler.ir_cel import (
    BOOL,
    DYN,
    FALSE,
    INT,
    NUMBERS,
    ORDERED,
    STRING,
    TRUE,
    And,
    Call,
    Compare,
    Cond,
    Expr,
    In,
    ListExpr,
    Literal,
    Macro,
    Not,
    Or,
    Select,
    Type,
    Unwrap,
    Var,
    can_abort,
    can_raise,
    list_of,
)

COMPARISONS: Final = {"_==_": "eq", "_!=_": "ne", "_<_": "lt", "_<=_": "le", "_>_": "gt", "_>=_": "ge"}

_INTEGERS: Final = frozenset({"int", "uint"})
_SCALARS: Final = frozenset({*ORDERED, "double", "type"})
_SAME: Final = "same"


def strict(expr: Expr) -> Expr:
    """An operand that must not be null."""
    if expr.type == DYN:
        raise Untranslatable("a value whose type is known at run time only (dyn)")
    if expr.type.kind == "null":
        raise Untranslatable("null as an operand")
    if not expr.type.nullable:
        return expr
    plain = Type(expr.type.kind, expr.type.args, expr.type.message)
    if isinstance(expr, Literal) and expr.value is not None:
        return Literal(plain, expr.value)
    return Unwrap(plain, expr)


def holds_durations(expr: Expr) -> bool:
    """Whether a list or map holds durations as messages store them: each may be out of range, an error of its own."""
    if expr.type.kind not in ("list", "map") or expr.type.args[-1].kind != "duration":
        return False
    return isinstance(expr, Var | Select) or (
        isinstance(expr, Macro) and expr.kind == "filter" and holds_durations(expr.range)
    )


def _refuse_durations(*operands: Expr) -> None:
    if any(map(holds_durations, operands)):
        raise Untranslatable("durations of a repeated field or map in an operation on the whole of it")


def call(function: str, operands: list[Expr]) -> Expr:
    """A call of a function with strict operands. Raises ``Untranslatable`` where no overload takes them."""
    args = [strict(operand) for operand in operands]
    found = overloads.find(function, tuple(arg.type for arg in args))
    if found is None:
        kinds = ", ".join(str(arg.type) for arg in args)
        raise Untranslatable(f"no overload of {function} is known to take ({kinds})")
    op, result, raises = found
    if op == _SAME:
        return args[0]
    return operation(op, result, args, raises)


def operation(op: str, result: Type, args: list[Expr], raises: bool) -> Expr:
    """A named operation, folded and simplified."""
    match op, args:
        case (("timestamp_of_string" | "duration_of_string"), [text]):
            return times.constant(op, text)
        case "uint_of_int", [Call(op="size" | "utf8_size") as size]:
            return Call(result, size.op, size.args)  # a size is never negative
        case "size", [Call(op="bytes_of_string") as encoded]:
            return fold(Call(result, "utf8_size", encoded.args))
        case "is_inf", [value]:
            args = [value, Literal(INT, 0)]
        case "is_ip", [text]:
            args = [text, Literal(INT, 0)]
        case "is_ip_prefix", [text]:
            args = [text, Literal(INT, 0), FALSE]
        case "is_ip_prefix", [text, version]:
            args = [text, version, FALSE]
        case "is_ip_prefix_strict", [text, exact]:
            op, args = "is_ip_prefix", [text, Literal(INT, 0), exact]
        case "join", [texts]:
            args = [texts, Literal(STRING, "")]
    return fold(Call(result, op, tuple(args), raises))


def compare(function: str, left: Expr, right: Expr) -> Expr:
    """``== != < <= > >=`` with CEL's equality across types."""
    op = COMPARISONS[function]
    if op not in ("eq", "ne"):
        left, right = strict(left), strict(right)
        kinds = {left.type.kind, right.type.kind}
        if kinds <= NUMBERS:
            return fold(Compare(op, left, right, mixed="double" in kinds and len(kinds) > 1))  # type: ignore[arg-type]
        if len(kinds) > 1 or not kinds <= ORDERED:
            raise Untranslatable(f"an order of {left.type} and {right.type}")
        return fold(Compare(op, left, right))  # type: ignore[arg-type]
    return _equality(op, left, right)


def _equality(op: str, left: Expr, right: Expr) -> Expr:
    for side in (left, right):
        if side.type == DYN:
            raise Untranslatable("equality of a value whose type is known at run time only (dyn)")
    kinds = {left.type.kind, right.type.kind}
    mixed = False
    if kinds <= NUMBERS:
        mixed = "double" in kinds and len(kinds) > 1
        if mixed and (left.type.nullable or right.type.nullable):
            raise Untranslatable("equality of an unset wrapper and a number of another type")
    elif "null" in kinds:
        other = left if right.type.kind == "null" else right
        if not other.type.nullable and other.type.kind != "null":
            return _never_equal(op, other)
    elif len(kinds) > 1:
        if can_raise(left) or can_raise(right):
            raise Untranslatable(f"equality of {left.type} and {right.type}")
        return FALSE if op == "eq" else TRUE
    elif kinds == {"list"} or kinds == {"map"}:
        _refuse_durations(left, right)
        _require_comparable(left.type, right.type)
    elif not kinds <= _SCALARS:
        raise Untranslatable(f"equality of {left.type}")
    return fold(Compare(op, left, right, mixed))  # type: ignore[arg-type]  # "eq" or "ne"


def _never_equal(op: str, other: Expr) -> Expr:
    if can_raise(other):
        raise Untranslatable("equality of null and an expression that can fail")
    return FALSE if op == "eq" else TRUE


def _require_comparable(left: Type, right: Type) -> None:
    for one, two in zip(left.args, right.args, strict=True):
        if DYN in (one, two) and (one == two or left.kind == "list"):
            raise Untranslatable(f"equality of {left} and {right}")
        if {one.kind, two.kind} <= _INTEGERS or (one.kind == two.kind and one.kind in _SCALARS):
            continue
        raise Untranslatable(f"equality of {left} and {right}")


def member(item: Expr, container: Expr) -> Expr:
    """``item in container``."""
    container = strict(container)
    if container.type.kind == "list":
        _refuse_durations(container)
    if item.type == DYN or container.type.kind not in ("list", "map"):
        raise Untranslatable(f"membership of {item.type} in {container.type}")
    if item.type.kind == "null":
        raise Untranslatable("membership of null")
    if isinstance(container, Literal) and not container.value:
        if can_raise(item):
            raise Untranslatable("membership in an empty list")
        return FALSE
    element = container.type.element
    if container.type.kind == "map":
        item = strict(item)
    same = item.type.kind == element.kind and element.kind in _SCALARS
    if not same and not {item.type.kind, element.kind} <= _INTEGERS:
        raise Untranslatable(f"membership of {item.type} in {container.type}")
    return fold(In(item, container))


def index(container: Expr, key: Expr) -> Expr:
    """``container[key]``: an index out of range or a missing key is an error."""
    container, key = strict(container), strict(key)
    _refuse_durations(container)
    if container.type.kind == "list" and key.type.kind in _INTEGERS:
        return Call(_readable(container.type.args[0]), "index_list", (container, key), raises=True)
    if container.type.kind == "map":
        wanted = container.type.args[0].kind
        if key.type.kind == wanted or {key.type.kind, wanted} <= _INTEGERS:
            return Call(_readable(container.type.args[1]), "index_map", (container, key), raises=True)
    raise Untranslatable(f"{container.type} indexed by {key.type}")


def _readable(type_: Type) -> Type:
    if type_ == DYN:
        raise Untranslatable("an element whose type is known at run time only (dyn)")
    return type_


def size(container: Expr) -> Expr:
    """``size()`` of a list or map; of text and bytes it is in the table of overloads."""
    return fold(Call(INT, "size", (strict(container),)))


def boolean(expr: Expr) -> Expr:
    """An operand of a logical operator."""
    expr = strict(expr)
    if expr.type.kind != "bool":
        raise Untranslatable(f"{expr.type} where a bool is needed")
    return expr


def negation(operand: Expr) -> Expr:
    """``!operand``."""
    operand = boolean(operand)
    if isinstance(operand, Literal):
        return FALSE if operand.value else TRUE
    if isinstance(operand, Not):
        return operand.operand
    return Not(operand)


def conjunction(operands: list[Expr]) -> Expr:
    """``&&``: false wins over errors, so one constant false decides."""
    flat: list[Expr] = []
    for operand in map(boolean, operands):
        flat.extend(operand.operands if isinstance(operand, And) else (operand,))
    rest = _until(flat, FALSE, TRUE)
    return And(rest) if len(rest) > 1 else rest[0] if rest else TRUE


def disjunction(operands: list[Expr]) -> Expr:
    """``||``: true wins over errors, so one constant true decides."""
    flat: list[Expr] = []
    for operand in map(boolean, operands):
        flat.extend(operand.operands if isinstance(operand, Or) else (operand,))
    rest = _until(flat, TRUE, FALSE)
    return Or(rest) if len(rest) > 1 else rest[0] if rest else FALSE


def _until(operands: list[Expr], deciding: Literal, neutral: Literal) -> tuple[Expr, ...]:
    """The operands that matter: up to a constant that decides, or it alone, unless one before it can abort."""
    if deciding in operands:
        operands = operands[: operands.index(deciding) + 1]
        if not any(map(can_abort, operands)):
            return (deciding,)
    return tuple(operand for operand in operands if operand != neutral)


def choice(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """``condition ? then : otherwise``."""
    condition = boolean(condition)
    if isinstance(condition, Literal):
        return then if condition.value else otherwise
    _refuse_durations(then, otherwise)
    if then == otherwise and not can_raise(condition):
        return then
    one, two = then.type, otherwise.type
    if (one.kind, one.args, one.message) != (two.kind, two.args, two.message):
        raise Untranslatable(f"a choice between {one} and {two}")
    result = Type(one.kind, one.args, one.message, one.nullable or two.nullable)
    if result == BOOL and isinstance(then, Literal) and isinstance(otherwise, Literal):
        if then.value != otherwise.value:
            return condition if then.value else negation(condition)
        if not can_raise(condition):
            return then
    return Cond(result, condition, then, otherwise)


def list_display(items: list[Expr]) -> Expr:
    """``[a, b]``; a literal when all items are constants of one type."""
    _refuse_durations(*items)
    types = {item.type for item in items}
    if len(types) == 1 and types != {DYN}:
        element = types.pop()
        if all(isinstance(item, Literal) for item in items):
            return Literal(list_of(element), tuple(item.value for item in items if isinstance(item, Literal)))
        return ListExpr(list_of(element), tuple(items))
    return ListExpr(list_of(DYN), tuple(items)) if items else Literal(list_of(DYN), ())


def concat_lists(left: Expr, right: Expr) -> Expr:
    """``left + right`` of lists of one type."""
    left, right = strict(left), strict(right)
    _refuse_durations(left, right)
    if left.type != right.type or left.type.kind != "list":
        raise Untranslatable(f"_+_ of {left.type} and {right.type}")
    if isinstance(left, Literal) and isinstance(right, Literal):
        return Literal(left.type, (*left.value, *right.value))  # type: ignore[misc]  # a list literal holds a tuple
    return Call(left.type, "concat_list", (left, right))
