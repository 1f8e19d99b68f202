"""The rules of a message as formulas: one for each rule that a contract writes, by field and rule path."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any, Final, TypeAlias

from protocontract_ci.meaning.lowering import Lowering, NoTerm, Place, Term, is_set
from protocontract_ci.meaning.smt import z3
from protocontract_ci.meaning.world import Node
from protocontract_compiler import ir, ir_cel

#: A rule: the name of the field or oneof ("" for the message), its path there (``string.min_len``, ``required``,
#: ``cel[id]``). "ignore" stands for all rules of the field.
RuleKey: TypeAlias = tuple[str, str]

_ZERO_VALUE: Final = "if_zero_value"
#: The bound that a disjunct of a range's condition belongs to, by the comparison that breaks it.
_BOUNDS: Final = {"ge": "lt", "gt": "lte", "lt": "gte", "le": "gt"}


def rule_formulas(lowering: Lowering, message: ir.Message) -> dict[RuleKey, Any]:
    """What each rule of the message demands, as a formula over the world's variables.

    Nested messages are judged by their own rules and are not part of it.
    """
    found: dict[RuleKey, list[Any]] = {}
    root = lowering.world.root
    for field in message.fields:
        node = lowering.world.field(root, field)
        formulas = list(_field(lowering, field, node))
        for path, formula in formulas:
            found.setdefault((field.name, path), []).append(formula)
        if field.rules is not None:
            # What `ignore` decides about is all that the field demands.
            found[field.name, "ignore"] = [z3.And(*(formula for _, formula in formulas))]
    expressions = count()
    for check in message.rules.checks:
        # An expression without an id is its own.
        nameless = check.rule_id == check.source
        path = f"cel_expression[{next(expressions)}]" if nameless else f"cel[{check.rule_id}]"
        holds = _checked(lowering, check, Place(root, z3.BoolVal(False)), f"message {message.full_name}")
        found.setdefault(("", path), []).append(holds)
    for oneof in message.oneofs:
        if oneof.required:
            found[oneof.name, "required"] = [z3.Or(*_set_fields(lowering, message, oneof.fields))]
    for rule in message.rules.oneofs:
        is_one = _set_fields(lowering, message, rule.fields)
        exactly = z3.PbEq if rule.required else z3.PbLe
        found["", f"oneof[{','.join(rule.fields)}]"] = [exactly([(each, 1) for each in is_one], 1)]
    return {key: z3.And(*formulas) if len(formulas) > 1 else formulas[0] for key, formulas in found.items()}


def oneof_axioms(lowering: Lowering, message: ir.Message) -> list[Any]:
    """At most one member of each oneof of the .proto is set."""
    return [
        z3.PbLe([(each, 1) for each in _set_fields(lowering, message, oneof.fields)], 1)
        for oneof in message.oneofs
        if len(oneof.fields) > 1
    ]


def _set_fields(lowering: Lowering, message: ir.Message, names: tuple[str, ...]) -> list[Any]:
    root = lowering.world.root
    return [is_set(lowering.world, lowering.world.field(root, message.field(name))) for name in names]


def _field(lowering: Lowering, field: ir.Field, node: Node) -> Iterator[tuple[str, Any]]:
    rules = field.rules
    if rules is None or rules.ignore == "always":
        return
    if rules.required:
        yield "required", is_set(lowering.world, node)
    applies = _applies(lowering, rules, node)
    for path, formula in _value(lowering, rules, node):
        yield path, formula if applies is None else z3.Implies(applies, formula)


def _applies(lowering: Lowering, rules: ir.ValueRules, node: Node) -> Any:
    """When the rules of a value are looked at; None: always."""
    conditions = []
    if node.present is not None:
        conditions.append(node.present)
    if rules.ignore == _ZERO_VALUE and (default := lowering.world.is_default(node)) is not None:
        conditions.append(z3.Not(default))
    return z3.And(*conditions) if conditions else None


def _value(lowering: Lowering, rules: ir.ValueRules, node: Node) -> Iterator[tuple[str, Any]]:
    for check in rules.checks:
        for path, part in _parts(check):
            yield path, _checked(lowering, part, lowering.scalar(node), node.name)
    if node.size is None:
        return
    inner: tuple[tuple[ir.ValueRules | None, bool], ...] = (
        (rules.items, False),
        (rules.keys, True),
        (rules.values, False),
    )
    for below, keys in inner:
        if below is not None and below.ignore != "always":
            yield from _elements(lowering, below, node, keys)


def _elements(lowering: Lowering, rules: ir.ValueRules, node: Node, keys: bool) -> Iterator[tuple[str, Any]]:
    for check in rules.checks:
        for path, part in _parts(check):
            yield path, _for_all(lowering, node, keys, _element_body(lowering, rules, part), f"{node.name} {part}")


def _element_body(lowering: Lowering, rules: ir.ValueRules, check: ir.Check) -> Callable[[Node], Any]:
    def body(item: Node) -> Any:
        formula = _checked(lowering, check, lowering.scalar(item), item.name)
        applies = _applies(lowering, rules, item)
        return formula if applies is None else z3.Implies(applies, formula)

    return body


def _for_all(lowering: Lowering, node: Node, keys: bool, body: Callable[[Node], Any], name: str) -> Any:
    try:
        return lowering.for_all(node, keys, body)
    except NoTerm:
        return z3.Bool(f"rule {name}")


def _checked(lowering: Lowering, check: ir.Check, this: Any, where: str) -> Any:
    """That a check is content. What has no term is one unknown: the same for the same rule of the same place."""
    try:
        if check.native is not None:
            return _native(check, this)
        if check.program is None:
            raise NoTerm("no program")
        return lowering.holds(check.program.expr, this, check.program.result)
    except NoTerm:
        source = check.program.source if check.program is not None else check.native
        expr = check.program.expr if check.program is not None else check.values
        return z3.Bool(f"rule at {where}: {source} {expr!r}")


def _native(check: ir.Check, this: Any) -> Any:
    if check.native != "enum_defined_only" or not isinstance(this, Term):
        raise NoTerm("type URLs")
    return z3.Or(*(this.value == number for number in check.values))


def _parts(check: ir.Check) -> Iterator[tuple[str, ir.Check]]:
    """A check, or its two bounds where one check states both: ``gte`` and ``lt`` are two rules of the contract."""
    head, _, word = check.rule_path.rpartition(".")
    if check.program is None or word not in _BOUNDS.values():
        # CEL with an id is known by it wherever it stands in the list.
        yield check.rule_path if not word.startswith("cel[") else _joined(head, f"cel[{check.rule_id}]"), check
        return
    for bound, condition in _bounds(check.program.expr, word):
        expr = ir_cel.Cond(ir_cel.STRING, condition, _broken(), ir_cel.Literal(ir_cel.STRING, ""))
        yield _joined(head, bound), replace(check, program=replace(check.program, expr=expr))


def _joined(head: str, word: str) -> str:
    return f"{head}.{word}" if head else word


def _broken() -> ir_cel.Literal:
    return ir_cel.Literal(ir_cel.STRING, "broken")


def _bounds(expr: ir_cel.Expr, word: str) -> Iterator[tuple[str, ir_cel.Expr]]:
    """The bounds of a range's condition. One that excludes its middle, or none that is known, stays whole."""
    condition = expr.condition if isinstance(expr, ir_cel.Cond) else ir_cel.negate(expr)
    disjuncts = condition.operands if isinstance(condition, ir_cel.Or) else (condition,)
    found: list[tuple[str, ir_cel.Expr]] = []
    others: list[ir_cel.Expr] = []
    for each in disjuncts:
        known = isinstance(each, ir_cel.Compare) and isinstance(each.left, ir_cel.Var)
        if known and isinstance(each, ir_cel.Compare) and each.op in _BOUNDS:
            found.append((_BOUNDS[each.op], each))
        else:
            others.append(each)
    if not found:
        yield word, condition
        return
    for bound, each in found:
        # NaN breaks either bound.
        yield bound, ir_cel.Or((*others, each)) if others else each
