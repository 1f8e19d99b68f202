"""CEL rules as conjunctions: what both sides write alike is told as equal, whoever wrote it and where.

A rule holds when all of its conjuncts hold. The conjuncts of a field's rule are lifted to the message (``this`` becomes
``this.field``, guarded by the field's presence), so that a rule that moved from a field to its message, or back, keeps
its conjuncts. A conjunct also implies one that differs from it by a weaker constant bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass, replace
from typing import Any, Final, TypeAlias

from protocontract_compiler import ir, ir_cel
from protocontract_compiler.cel.checks import as_check

Conjunct: TypeAlias = ir_cel.Expr

_MIRRORED: Final = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_PLAIN_ZERO: Final = {
    ir.TYPE_STRING: ir_cel.Literal(ir_cel.STRING, ""), ir.TYPE_BYTES: ir_cel.Literal(ir_cel.BYTES, b""),
    ir.TYPE_BOOL: ir_cel.Literal(ir_cel.BOOL, False),
}  # fmt: skip


def of_check(check: ir.Check) -> frozenset[Conjunct] | None:
    """What must hold for a check to be kept; None where it is no conjunction of conditions."""
    if check.program is None:
        return None
    reduced = as_check(check.program)
    if reduced is None:
        return None
    found: set[Conjunct] = set()
    for branch in reduced.branches:
        found.update(_flat(ir_cel.negate(branch.condition)))
    return frozenset(_normal(each) for each in found)


def lifted(conjuncts: Iterable[Conjunct], field: ir.Field, message: str) -> frozenset[Conjunct] | None:
    """Conjuncts of a field's own rules as conjuncts of its message; None where the field's value is not one of its own.

    ``message`` is the full name of the message. A field with presence is looked at where it is set.
    """
    reference = _reference(field, message)
    if reference is None:
        return None
    this = ir_cel.Select(reference.type, ir_cel.Var(ir_cel.Type("message", (), message), "this"), reference)
    raised = {_normal(_replace_this(each, this)) for each in conjuncts}
    if not field.has_presence:
        return frozenset(raised)
    unset = ir_cel.Not(ir_cel.Has(this.operand, reference))
    return frozenset(_normal(ir_cel.Or((unset, each))) for each in raised)


def required(field: ir.Field, message: str) -> frozenset[Conjunct] | None:
    """``required`` as conjuncts of the message: present, or not the zero value."""
    reference = _reference(field, message)
    if reference is None:
        return None
    this = ir_cel.Var(ir_cel.Type("message", (), message), "this")
    if field.has_presence:
        return frozenset({ir_cel.Has(this, reference)})
    zero = _PLAIN_ZERO.get(field.type)
    if zero is None and field.type in ir.INTEGER_TYPES:
        zero = ir_cel.Literal(reference.type, 0)
    if zero is None:
        return None
    return frozenset({_normal(ir_cel.Compare("ne", ir_cel.Select(reference.type, this, reference), zero))})


def relabel(conjuncts: Iterable[Conjunct], new_names: Mapping[str, str]) -> frozenset[Conjunct]:
    """The conjuncts with messages by their names after and fields by their numbers: a rename changes no rule."""
    return frozenset(_relabelled(each, new_names) for each in conjuncts)


def _relabelled(expr: Any, new_names: Mapping[str, str]) -> Any:
    match expr:
        case ir_cel.FieldRef():
            message = new_names.get(expr.message, expr.message)
            inner = new_names.get(expr.message_type, expr.message_type)
            type_ = _relabelled(expr.type, new_names)
            return replace(expr, name=str(expr.number), message=message, message_type=inner, type=type_)
        case ir_cel.Type():
            return replace(expr, message=new_names.get(expr.message, expr.message))
        case tuple():
            return tuple(_relabelled(each, new_names) for each in expr)
    if is_dataclass(expr) and not isinstance(expr, type):
        return replace(
            expr,
            **{
                each.name: _relabelled(getattr(expr, each.name), new_names)
                for each in dataclass_fields(expr)
                if each.name not in ("op", "kind", "mixed", "raises", "value")
            },
        )
    return expr


def implies(given: frozenset[Conjunct], wanted: Iterable[Conjunct]) -> bool:
    """Whether each wanted conjunct is given, or one that bounds the same value more tightly."""
    return all(each in given or any(_tighter(mine, each) for mine in given) for each in wanted)


def _tighter(mine: Conjunct, wanted: Conjunct) -> bool:
    match mine, wanted:
        case (
            ir_cel.Compare(op=op, left=left, right=ir_cel.Literal(value=value, type=kind)),
            ir_cel.Compare(op=other, left=same, right=ir_cel.Literal(value=limit, type=other_kind)),
        ) if left == same and kind == other_kind and _is_number(value) and _is_number(limit):
            mine_number: Any = value
            above, beyond = {"gt": 1, "ge": 1, "lt": -1, "le": -1}.get(op, 0), {"gt", "ge"}
            if above == 0 or other not in ("gt", "ge", "lt", "le") or (op in beyond) != (other in beyond):
                return False
            if value == limit:
                return op == other or op in ("gt", "lt")
            return bool(mine_number > limit) == (above > 0)
    return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _flat(expr: Conjunct) -> Iterator[Conjunct]:
    if isinstance(expr, ir_cel.And):
        for operand in expr.operands:
            yield from _flat(operand)
    elif not (isinstance(expr, ir_cel.Literal) and expr.value is True):
        yield expr


def _normal(expr: Conjunct) -> Conjunct:
    """A conjunct as we write it: operands in one order, bounds of integers closed."""
    match expr:
        case ir_cel.Compare() if _turned(expr):
            turned: Any = _MIRRORED[expr.op]
            return _normal(replace(expr, op=turned, left=expr.right, right=expr.left))
        case ir_cel.Compare(op="gt" | "lt" as op, right=ir_cel.Literal(value=int(value), type=kind)) if (
            kind.kind in ("int", "uint") and not isinstance(value, bool) and not expr.mixed
        ):
            step, closed = (1, "ge") if op == "gt" else (-1, "le")
            closed_op: Any = closed
            return replace(expr, op=closed_op, right=ir_cel.Literal(kind, value + step))
        case ir_cel.Not(operand=ir_cel.Compare() as inner):
            turned_inner = ir_cel.negate(inner)
            return expr if turned_inner == expr else _normal(turned_inner)
        case ir_cel.Or(operands=operands):
            flat: list[Conjunct] = []
            for operand in operands:
                flat.extend(operand.operands if isinstance(operand, ir_cel.Or) else (operand,))
            return ir_cel.Or(tuple(sorted((_normal(each) for each in flat), key=repr)))
    return expr


def _turned(expr: ir_cel.Compare) -> bool:
    """Whether a comparison is written the other way round than we do: constants right, else in one fixed order."""
    constants = [isinstance(side, ir_cel.Literal) for side in (expr.left, expr.right)]
    return constants[0] if constants[0] != constants[1] else repr(expr.left) > repr(expr.right)


def _replace_this(expr: Any, this: Conjunct) -> Any:
    """The tree with the field's ``this`` in the place of the value's own."""
    if isinstance(expr, ir_cel.Var):
        return this if expr.name == "this" and expr.slot == 0 else expr
    if isinstance(expr, tuple):
        return tuple(_replace_this(each, this) for each in expr)
    if is_dataclass(expr) and not isinstance(expr, type) and not isinstance(expr, ir_cel.Type | ir_cel.FieldRef):
        changed = {
            each.name: _replace_this(getattr(expr, each.name), this)
            for each in dataclass_fields(expr)
            if each.name not in ("type", "op", "kind", "mixed", "raises", "value", "var")
        }
        return replace(expr, **changed)
    return expr


_CEL_TYPES: Final = {
    ir.TYPE_DOUBLE: (ir_cel.DOUBLE, "double"), ir.TYPE_FLOAT: (ir_cel.DOUBLE, "float"),
    ir.TYPE_INT64: (ir_cel.INT, "int64"), ir.TYPE_INT32: (ir_cel.INT, "int32"), ir.TYPE_SINT32: (ir_cel.INT, "sint32"),
    ir.TYPE_SINT64: (ir_cel.INT, "sint64"), ir.TYPE_SFIXED32: (ir_cel.INT, "sfixed32"),
    ir.TYPE_SFIXED64: (ir_cel.INT, "sfixed64"), ir.TYPE_UINT32: (ir_cel.UINT, "uint32"),
    ir.TYPE_UINT64: (ir_cel.UINT, "uint64"), ir.TYPE_FIXED32: (ir_cel.UINT, "fixed32"),
    ir.TYPE_FIXED64: (ir_cel.UINT, "fixed64"), ir.TYPE_BOOL: (ir_cel.BOOL, "bool"),
    ir.TYPE_STRING: (ir_cel.STRING, "string"), ir.TYPE_BYTES: (ir_cel.BYTES, "bytes"),
}  # fmt: skip


def _reference(field: ir.Field, message: str) -> ir_cel.FieldRef | None:
    """The field as a message's CEL sees it; None for what is no single scalar."""
    if field.shape is not ir.Shape.SINGULAR or field.type not in _CEL_TYPES:
        return None
    kind, wire = _CEL_TYPES[field.type]
    return ir_cel.FieldRef(field.name, field.number, message, kind, "singular", field.has_presence, wire)
