"""From a rule's condition to the values that keep it.

Every function gives a superset: of what does not translate, all values. ``exact`` says that it is no more than what the
rule accepts. So a schema never refuses a value that the rule accepts, whatever the rule is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from protocontract_compiler import ir
from protocontract_compiler import ir_cel as cel
from protocontract_compiler.cel.checks import as_check
from protocontract_compiler.cel.fold import fold
from protocontract_compiler.emit.jsonschema import patterns
from protocontract_compiler.emit.jsonschema.combine import Json, all_of, any_of, negated
from protocontract_compiler.emit.jsonschema.forms import counted
from protocontract_compiler.emit.jsonschema.sets import EVERY, NONE, Numbers, compared, points

Kind: TypeAlias = Literal["number", "bool", "text", "bytes", "list", "map", "other"]
"""What a rule is about. Bools are the numbers 0 and 1; of bytes it is their size that is limited."""

Values: TypeAlias = "Numbers | Json"

_NUMERIC: Final = frozenset({"number", "bool", "bytes"})


@dataclass(frozen=True, slots=True)
class Found:
    """A set of values: numbers, or a schema."""

    values: Values
    exact: bool


def everything(kind: Kind) -> Values:
    """All values of a kind."""
    return EVERY if kind in _NUMERIC else True


def kept(check: ir.Check) -> list[cel.Expr] | None:
    """The conditions that must all hold where a check is kept; None where the IR does not tell."""
    if check.program is None:
        return None
    if check.program.result == "bool":
        return [check.program.expr]
    reduced = as_check(check.program)
    return None if reduced is None else [cel.negate(branch.condition) for branch in reduced.branches]


def meet(kind: Kind, parts: Iterable[Found]) -> Found:
    """What is in every part."""
    found = list(parts)
    exact = all(part.exact for part in found)
    if kind in _NUMERIC:
        numbers = EVERY
        for part in found:
            assert isinstance(part.values, Numbers)
            numbers &= part.values
        return Found(numbers, exact)
    schemas = [_schema(part) for part in found]
    return Found(all_of(_tidy(schemas) if kind == "text" else schemas), exact)


def _tidy(parts: list[Json]) -> list[Json]:
    """Demands on a text without what others among them demand anyway: a format has a rule of its own for "", too."""
    least = [part["minLength"] for part in parts if isinstance(part, dict) and "minLength" in part]
    if not least:
        return parts
    found: list[Json] = []
    for part in parts:
        if isinstance(part, dict) and set(part) == {"anyOf"}:
            part = any_of(branch for branch in part["anyOf"] if branch != {"const": ""})
        if part != {"minLength": 1} or max(least) == 1:
            found.append(part)
    told = any(isinstance(part, dict) and _refuses_nothing(part) for part in found)
    return [part for part in found if part != {"minLength": 1}] if told else found


def _refuses_nothing(part: dict[str, Any]) -> bool:
    """Whether a demand on a text has a part that the empty text does not keep, besides a least length."""
    pattern = part.get("pattern")
    return isinstance(pattern, str) and re.search(pattern, "") is None


def join(kind: Kind, parts: Iterable[Found]) -> Found:
    """What is in any part."""
    found = list(parts)
    exact = all(part.exact for part in found)
    if kind in _NUMERIC:
        numbers = NONE
        for part in found:
            assert isinstance(part.values, Numbers)
            numbers |= part.values
        return Found(numbers, exact)
    return Found(any_of(_schema(part) for part in found), exact)


def _schema(part: Found) -> Json:
    assert not isinstance(part.values, Numbers)
    return part.values


def over(expr: cel.Expr, kind: Kind, subject: Callable[[cel.Expr], bool]) -> Found:
    """The values of ``subject`` for which ``expr`` can be true."""
    match expr:
        case cel.Literal(value=bool(value)):
            return join(kind, []) if not value else Found(everything(kind), True)
        case cel.And():
            return meet(kind, [over(operand, kind, subject) for operand in expr.operands])
        case cel.Or():
            return join(kind, [over(operand, kind, subject) for operand in expr.operands])
        case cel.Cond(condition=condition, then=then, otherwise=otherwise):
            return over(
                cel.Or((cel.And((condition, then)), cel.And((cel.negate(condition), otherwise)))), kind, subject
            )
        case cel.Not(operand=operand):
            turned = cel.negate(operand)
            if not isinstance(turned, cel.Not):
                return over(turned, kind, subject)
            found = _atom(operand, kind, subject)
            if found is None or not found.exact:
                return Found(everything(kind), False)
            values = found.values
            return Found(~values if isinstance(values, Numbers) else negated(values), True)
    return _atom(expr, kind, subject) or Found(everything(kind), False)


def _atom(expr: cel.Expr, kind: Kind, subject: Callable[[cel.Expr], bool]) -> Found | None:
    match expr:
        case cel.Compare(mixed=False):
            return _comparison(expr, kind, subject)
        case cel.In(item=item, container=cel.Literal(value=tuple(members))) if subject(item):
            return _members(members, kind)
        case cel.Call(op="unique", args=(item,)) if kind == "list" and subject(item):
            return Found({"uniqueItems": True}, item.type.args[0].kind in {"string", "bool"})
        case cel.Call(op=op, args=(item, *rest)) if subject(item):
            constants = [arg.value for arg in rest if isinstance(arg, cel.Literal)]
            if len(constants) == len(rest):
                return _call(op, constants, kind)
        case _ if kind == "bool" and subject(expr):
            return Found(points([1]), True)
    return None


def _comparison(expr: cel.Compare, kind: Kind, subject: Callable[[cel.Expr], bool]) -> Found | None:
    op, left, right = expr.op, expr.left, expr.right
    if isinstance(left, cel.Literal):
        op = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(op, op)  # type: ignore[assignment]
        left, right = right, left
    if not isinstance(right, cel.Literal):
        return None
    value: Any = right.value
    if subject(left):
        if kind in {"number", "bool"} and isinstance(value, int | float):
            return Found(compared(op, int(value) if isinstance(value, bool) else value), True)
        if kind == "text" and op in {"eq", "ne"}:
            if not value:
                return Found({"const": ""} if op == "eq" else {"minLength": 1}, True)
            return Found({"const": value} if op == "eq" else {"not": {"const": value}}, True)
        if kind == "bytes" and op == "eq" and isinstance(value, bytes):
            return Found(points([len(value)]), False)
        return None
    match left:
        case cel.Call(op="size", args=(item,)) if subject(item):
            return _sized(compared(op, value), kind)
        case cel.Call(op="utf8_size", args=(item,)) if kind == "text" and subject(item):
            return _bytes_of_text(compared(op, value))
    return None


def _sized(sizes: Numbers, kind: Kind) -> Found | None:
    match kind:
        case "bytes":
            return Found(sizes, True)
        case "text":
            return Found(counted(sizes, "minLength", "maxLength"), True)
        case "list":
            return Found(counted(sizes, "minItems", "maxItems"), True)
        case "map":
            return Found(counted(sizes, "minProperties", "maxProperties"), True)
    return None


def _bytes_of_text(sizes: Numbers) -> Found:
    """A character takes one to four bytes."""
    wide = NONE
    for first, last in sizes.integers(0, 1 << 60):
        high = Numbers((((-(-first // 4), -1), (last, 1)),)) if last < 1 << 60 else compared("ge", -(-first // 4))
        wide |= high
    exact = all(first <= 1 and last == 1 << 60 for first, last in sizes.integers(0, 1 << 60))
    return Found(counted(wide, "minLength", "maxLength"), exact)


def _members(members: tuple[Any, ...], kind: Kind) -> Found | None:
    if kind in {"number", "bool"}:
        return Found(points(int(member) if isinstance(member, bool) else member for member in members), True)
    if kind == "text":
        return Found({"enum": list(members)} if members else False, True)
    if kind == "bytes":
        return Found(points(len(member) for member in members), False)
    return None


def _call(op: str, constants: list[Any], kind: Kind) -> Found | None:
    if kind == "number":
        if op == "is_nan":
            return Found(Numbers((), nan=True), True)
        if op == "is_inf":
            sign = constants[0] if constants else 0
            ends = {0: [float("-inf"), float("inf")], 1: [float("inf")], -1: [float("-inf")]}
            return Found(points(ends[(sign > 0) - (sign < 0)]), True)
    if kind == "bytes" and op in {"starts_with", "ends_with", "contains"}:
        return Found(compared("ge", len(constants[0])), False)
    if kind != "text":
        return None
    match op:
        case "matches":
            pattern = patterns.portable(constants[0])
            return None if pattern is None else Found({"pattern": pattern}, True)
        case "starts_with":
            return Found({"pattern": f"^{patterns.literal(constants[0])}"}, True)
        case "ends_with":
            return Found({"pattern": f"{patterns.literal(constants[0])}$"}, True)
        case "contains":
            return Found({"pattern": patterns.literal(constants[0])}, True)
    return _FORMATS.get((op, *constants))


_LABEL: Final = "[a-zA-Z0-9](?:[-a-zA-Z0-9]{0,61}[a-zA-Z0-9])?"
_OCTET: Final = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4: Final = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
# What protovalidate decides by functions of its own. A grammar that is not regular, or long, is told in part.
_FORMATS: Final[dict[tuple[Any, ...], Found]] = {
    ("is_email",): Found({"pattern": rf"^[a-zA-Z0-9.!#$%&'*+/=?^_`{{|}}~-]+@{_LABEL}(?:\.{_LABEL})*$"}, True),
    ("is_hostname",): Found(
        {
            "allOf": [
                {"pattern": rf"^{_LABEL}(?:\.{_LABEL})*\.?$"},
                {"pattern": r"^[\s\S]{0,253}\.?$"},
                {"not": {"pattern": r"(?:^|\.)[0-9]+\.?$"}},
            ]
        },
        True,
    ),
    ("is_ip", 4): Found({"pattern": f"^{_IPV4}$"}, True),
    ("is_ip", 6): Found({"pattern": "^[0-9a-fA-F.:]*:[^/]*$"}, False),
    ("is_ip", 0): Found({"pattern": f"^(?:{_IPV4}|[0-9a-fA-F.:]*:[^/]*)$"}, False),
    ("is_ip_prefix", 4, False): Found({"pattern": f"^{_IPV4}/(?:3[0-2]|[12]?[0-9])$"}, True),
    ("is_ip_prefix", 4, True): Found({"pattern": f"^{_IPV4}/(?:3[0-2]|[12]?[0-9])$"}, False),
    ("is_ip_prefix", 6, False): Found({"pattern": "^[0-9a-fA-F.:]*:[0-9a-fA-F.:]*/[0-9]{1,3}$"}, False),
    ("is_ip_prefix", 6, True): Found({"pattern": "^[0-9a-fA-F.:]*:[0-9a-fA-F.:]*/[0-9]{1,3}$"}, False),
    ("is_uri",): Found({"pattern": "^[a-zA-Z][-a-zA-Z0-9+.]*:[!-~]*$"}, False),
    ("is_uri_ref",): Found({"pattern": "^[!-~]*$"}, False),
    ("is_host_and_port", True): Found({"pattern": ":(?:0|[1-9][0-9]{0,4})$"}, False),
}


# ----------------------------------------------------------------------------------------------------------------------
# What a condition says of values that are known


class Unknown(Exception):
    """The value is not known before there is a message."""


def evaluate(expr: cel.Expr, value_of: Callable[[cel.Expr], Any]) -> Any:
    """The value of an expression where ``value_of`` knows what it is made of. Raises Unknown.

    ``value_of`` raises Unknown for what it does not know, and is asked before the expression is taken apart.
    """
    try:
        return value_of(expr)
    except Unknown:
        pass
    match expr:
        case cel.Literal():
            return expr.value
        case cel.Not():
            return not evaluate(expr.operand, value_of)
        case cel.And():
            return all(evaluate(operand, value_of) for operand in expr.operands)
        case cel.Or():
            return any(evaluate(operand, value_of) for operand in expr.operands)
        case cel.Cond():
            chosen = expr.then if evaluate(expr.condition, value_of) else expr.otherwise
            return evaluate(chosen, value_of)
        case cel.Macro(kind="all" | "exists") if evaluate(expr.range, value_of) == ():
            return expr.kind == "all"
        case cel.Compare() | cel.In() | cel.Call():
            folded = fold(_known(expr, value_of))
            if isinstance(folded, cel.Literal):
                return folded.value
    raise Unknown


def _known(expr: cel.Compare | cel.In | cel.Call, value_of: Callable[[cel.Expr], Any]) -> cel.Expr:
    def literal(operand: cel.Expr) -> cel.Literal:
        return cel.Literal(operand.type, evaluate(operand, value_of))

    match expr:
        case cel.Compare():
            return cel.Compare(expr.op, literal(expr.left), literal(expr.right), expr.mixed)
        case cel.In():
            return cel.In(literal(expr.item), literal(expr.container))
        case cel.Call():
            return cel.Call(expr.type, expr.op, tuple(literal(arg) for arg in expr.args), expr.raises)


def holds(conditions: Iterable[cel.Expr], value: Any) -> bool | None:
    """Whether conditions on ``this`` all hold for one value; None where that is not known."""

    def value_of(expr: cel.Expr) -> Any:
        if isinstance(expr, cel.Var) and expr.name == "this" and not expr.slot:
            return value
        raise Unknown

    try:
        return all(evaluate(condition, value_of) is True for condition in conditions)
    except Unknown:
        return None
