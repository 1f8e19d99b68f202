"""CEL trees as z3 terms: a value and whether its evaluation is an error.

What z3 has no theory for (formats, patterns beyond regular expressions, texts of numbers) becomes a function without a
meaning: equal on both sides where its operands are equal, which is enough for many proofs and never makes a wrong one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import re2

from protocontract_ci.meaning.smt import simplified, z3
from protocontract_ci.meaning.world import Node, World, constant
from protocontract_compiler import ir_cel
from protocontract_compiler.cel.fold import fold

_INT64: Final = (-(2**63), 2**63 - 1)
_UINT64: Final = (0, 2**64 - 1)
_ORDER: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
_FLOAT_ORDER: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "lt": z3.fpLT,
    "le": z3.fpLEQ,
    "gt": z3.fpGT,
    "ge": z3.fpGEQ,
}
_INTEGER: Final[dict[str, tuple[Callable[[Any, Any], Any], tuple[int, int]]]] = {
    "add_int": (lambda a, b: a + b, _INT64),
    "sub_int": (lambda a, b: a - b, _INT64),
    "mul_int": (lambda a, b: a * b, _INT64),
    "add_uint": (lambda a, b: a + b, _UINT64),
    "sub_uint": (lambda a, b: a - b, _UINT64),
    "mul_uint": (lambda a, b: a * b, _UINT64),
}
_DOUBLE: Final[dict[str, Callable[..., Any]]] = {
    "add_double": z3.fpAdd,
    "sub_double": z3.fpSub,
    "mul_double": z3.fpMul,
    "div_double": z3.fpDiv,
}
#: Questions about a part of a text, and what stands around the part in the pattern that asks the same.
_PARTS: Final[dict[str, tuple[Callable[[Any, Any], Any], str, str]]] = {
    "starts_with": (lambda text, part: z3.PrefixOf(part, text), "^", ""),
    "ends_with": (lambda text, part: z3.SuffixOf(part, text), "", "$"),
    "contains": (lambda text, part: z3.Contains(text, part), "", ""),
}
_SORTS: Final[dict[str, Callable[[], Any]]] = {
    "bool": z3.BoolSort,
    "double": z3.Float64,
    "string": z3.StringSort,
    "bytes": z3.StringSort,
    "int": z3.IntSort,
    "uint": z3.IntSort,
    "enum": z3.IntSort,
    "timestamp": z3.IntSort,
    "duration": z3.IntSort,
}


class NoTerm(Exception):
    """The expression has no term: a list that is computed, a message compared as a whole."""


@dataclass(frozen=True, slots=True)
class Term:
    """A scalar and when its evaluation fails."""

    value: Any
    error: Any
    kind: str


@dataclass(frozen=True, slots=True)
class Wrapper:
    """The value of a wrapper message, which is null where it is not set."""

    node: Node
    error: Any


@dataclass(frozen=True, slots=True)
class Place:
    """A message, list or map of the record."""

    node: Node
    error: Any
    keys: bool = False


@dataclass(frozen=True, slots=True)
class Constants:
    """A list of constants."""

    values: tuple[Any, ...]
    kind: str


Lowered: TypeAlias = Term | Wrapper | Place | Constants
Scope: TypeAlias = Mapping[tuple[str, int], Lowered]

_NO: Final = z3.BoolVal(False)


@dataclass(frozen=True, slots=True)
class ForAll:
    """A statement about all elements of a list: one unknown, true where the list is empty."""

    container: Node
    body: Any
    holds: Any


class Lowering:
    """Lowers the rules of both sides into one world."""

    def __init__(self, world: World) -> None:
        self.world = world
        #: Statements about all elements, by the list's name.
        self.statements: dict[str, list[ForAll]] = {}
        #: Patterns, with the terms that they are asked of.
        self.patterns: dict[str, list[Any]] = {}
        #: Those of them that stand for a part of a text, of which z3 knows by itself.
        self.parts: set[str] = set()
        #: Questions without a theory: whether a text has a format. Their terms, and what answers for a constant text.
        self.formats: list[tuple[Any, Callable[[Any], Any], Callable[[str], bool | None]]] = []
        #: The texts whose length in UTF-8 is asked for.
        self.measured: list[Any] = []
        #: The constant texts of the rules, with their terms.
        self.texts: dict[str, Any] = {"": z3.StringVal("")}
        self._inside: list[str] = []

    # -- rules

    def scalar(self, node: Node) -> Lowered:
        """A field's value as ``this`` of its rules."""
        if node.size is not None or node.kind == "message":
            return Place(node, _NO)
        return Term(node.value, _NO, "double" if node.kind == "float" else node.kind)

    def holds(self, expr: ir_cel.Expr, this: Lowered, result: str) -> Any:
        """That a rule's program is content: true, or an empty text; an error is a rejection."""
        if result == "string":
            expr = _content(expr)
        term = self._term(expr, {("this", 0): this})
        return z3.And(term.value, z3.Not(term.error))

    def for_all(self, container: Node, keys: bool, body: Callable[[Node], Any]) -> Any:
        """That a statement holds for all elements (or keys) of a list or map."""
        if self.world.bound is not None:
            nodes = container.keys if keys else container.items
            return z3.And(*(z3.Implies(container.size > at, body(node)) for at, node in enumerate(nodes)))
        name = f"{container.name} {'keys' if keys else 'items'}"
        if name in self._inside:
            # Two elements of one list at once: any element cannot stand for both.
            raise NoTerm("one list within itself")
        self._inside.append(name)
        try:
            item = container.key if keys else container.item
            assert item is not None
            statement = simplified(body(item))
        finally:
            self._inside.pop()
        if z3.is_true(statement):
            return statement
        known = self.statements.setdefault(name, [])
        for found in known:
            if found.body.eq(statement):
                return found.holds
        made = ForAll(container, statement, z3.Bool(f"all {name} {len(known)}"))
        known.append(made)
        self.world.axioms.append(z3.Implies(container.size == 0, made.holds))
        return made.holds

    # -- expressions

    def _term(self, expr: ir_cel.Expr, scope: Scope) -> Term:
        found = self._lower(expr, scope)
        if not isinstance(found, Term):
            raise NoTerm(f"no scalar: {type(expr).__name__}")
        return found

    def _lower(self, expr: ir_cel.Expr, scope: Scope) -> Lowered:
        match expr:
            case ir_cel.Literal():
                return self._literal(expr)
            case ir_cel.Var(name="now", slot=0):
                return Term(self.world.now, _NO, "timestamp")
            case ir_cel.Var():
                return scope[expr.name, expr.slot]
            case ir_cel.Select():
                return self._select(expr, scope)
            case ir_cel.Has():
                return self._has(expr, scope)
            case ir_cel.Not():
                term = self._term(expr.operand, scope)
                return Term(z3.Not(term.value), term.error, "bool")
            case ir_cel.And() | ir_cel.Or():
                return self._junction(expr, scope)
            case ir_cel.Cond():
                return self._condition(expr, scope)
            case ir_cel.Compare():
                return self._compare(expr, scope)
            case ir_cel.In():
                return self._in(expr, scope)
            case ir_cel.Unwrap():
                found = self._lower(expr.operand, scope)
                if isinstance(found, Wrapper):
                    unset = _NO if found.node.present is None else z3.Not(found.node.present)
                    return Term(found.node.value, z3.Or(found.error, unset), expr.type.kind)
                return found
            case ir_cel.Macro():
                return self._macro(expr, scope)
            case ir_cel.Call():
                return self._call(expr, scope)
            case _:
                raise NoTerm(type(expr).__name__)

    def _literal(self, expr: ir_cel.Literal) -> Lowered:
        if expr.type.kind == "list":
            values = expr.value
            assert isinstance(values, tuple)
            return Constants(values, expr.type.element.kind)
        if expr.type.kind not in _SORTS:
            raise NoTerm(expr.type.kind)
        value = constant(expr.value, expr.type.kind)
        if expr.type.kind == "string":
            self.texts[str(expr.value)] = value
        return Term(value, _NO, expr.type.kind)

    def _select(self, expr: ir_cel.Select, scope: Scope) -> Lowered:
        node, error = self._field(expr.operand, expr.field, scope)
        if expr.type.nullable:
            return Wrapper(node, error)
        if node.size is not None or node.kind == "message":
            return Place(node, error)
        return Term(node.value, error, expr.type.kind)

    def _field(self, operand: ir_cel.Expr, ref: ir_cel.FieldRef, scope: Scope) -> tuple[Node, Any]:
        holder = self._lower(operand, scope)
        if not isinstance(holder, Place) or holder.node.kind != "message" or holder.node.size is not None:
            raise NoTerm("a field of something computed")
        declared = self.world.declared(ref.message, ref.name)
        if declared is None:
            raise NoTerm("a field of a message that is not in the schema")
        return self.world.field(holder.node, declared), holder.error

    def _has(self, expr: ir_cel.Has, scope: Scope) -> Term:
        node, error = self._field(expr.operand, expr.field, scope)
        return Term(is_set(self.world, node), error, "bool")

    def _junction(self, expr: ir_cel.And | ir_cel.Or, scope: Scope) -> Term:
        """``&&`` and ``||``: the deciding value wins over an error."""
        terms = [self._term(operand, scope) for operand in expr.operands]
        both = isinstance(expr, ir_cel.And)
        decided = [z3.And(z3.Not(t.error), z3.Not(t.value) if both else t.value) for t in terms]
        error = z3.And(z3.Not(z3.Or(*decided)), z3.Or(*(t.error for t in terms)))
        value = (z3.And if both else z3.Or)(*(t.value for t in terms))
        return Term(value, error, "bool")

    def _condition(self, expr: ir_cel.Cond, scope: Scope) -> Term:
        condition = self._term(expr.condition, scope)
        then, otherwise = self._term(expr.then, scope), self._term(expr.otherwise, scope)
        error = z3.Or(condition.error, z3.If(condition.value, then.error, otherwise.error))
        return Term(z3.If(condition.value, then.value, otherwise.value), error, then.kind)

    def _compare(self, expr: ir_cel.Compare, scope: Scope) -> Term:
        left, right = self._lower(expr.left, scope), self._lower(expr.right, scope)
        for one, other in ((left, expr.right), (right, expr.left)):
            if isinstance(one, Wrapper) and isinstance(other, ir_cel.Literal) and other.value is None:
                unset = z3.Not(one.node.present)
                return Term(unset if expr.op == "eq" else z3.Not(unset), one.error, "bool")
        if not isinstance(left, Term) or not isinstance(right, Term):
            raise NoTerm("a comparison of more than scalars")
        a, b, error = left.value, right.value, z3.Or(left.error, right.error)
        if "double" in (left.kind, right.kind):
            a, b = _as_double(left), _as_double(right)
            if expr.op in ("eq", "ne"):
                equal = z3.fpEQ(a, b)
                return Term(equal if expr.op == "eq" else z3.Not(equal), error, "bool")
            return Term(_FLOAT_ORDER[expr.op](a, b), error, "bool")
        if expr.op in ("eq", "ne"):
            return Term(a == b if expr.op == "eq" else a != b, error, "bool")
        if left.kind == "bool":
            a, b = z3.If(a, 1, 0), z3.If(b, 1, 0)
        return Term(_ORDER[expr.op](a, b), error, "bool")

    def _in(self, expr: ir_cel.In, scope: Scope) -> Term:
        container = self._lower(expr.container, scope)
        item = self._term(expr.item, scope)
        if isinstance(container, Constants):
            return Term(
                z3.Or(*(self._equal(item, value, container.kind) for value in container.values)), item.error, "bool"
            )
        if not isinstance(container, Place):
            raise NoTerm("membership in something computed")
        keys = container.node.key is not None
        absent = self.for_all(container.node, keys, lambda node: z3.Not(_same(item, self.scalar(node))))
        return Term(z3.Not(absent), z3.Or(item.error, container.error), "bool")

    def _equal(self, item: Term, value: object, kind: str) -> Any:
        if kind == "string":
            self.texts[str(value)] = constant(value, kind)
        return _same(item, Term(constant(value, kind), _NO, kind))

    def _macro(self, expr: ir_cel.Macro, scope: Scope) -> Term:
        container = self._lower(expr.range, scope)
        if expr.kind not in ("all", "exists") or not isinstance(container, Place):
            raise NoTerm(expr.kind)
        keys = container.node.key is not None

        def body(node: Node) -> Term:
            return self._term(expr.body, {**scope, (expr.var.name, expr.var.slot): self.scalar(node)})

        # An element that decides wins over one that fails.
        whole = expr.kind == "all"
        true = self.for_all(container.node, keys, lambda node: _settled(body(node), whole))
        undecided = self.for_all(container.node, keys, lambda node: _not(_settled(body(node), not whole)))
        error = z3.Or(container.error, z3.And(undecided, z3.Not(true)))
        return Term(true if whole else z3.Not(undecided), error, "bool")

    # -- operations

    def _call(self, expr: ir_cel.Call, scope: Scope) -> Term:
        if expr.op == "size" and isinstance(found := self._lower(expr.args[0], scope), Place):
            if found.node.size is None:
                raise NoTerm("the size of a message")
            return Term(found.node.size, found.error, "int")
        if expr.op == "unique":
            return self._unique(expr, scope)
        pattern = expr.args[1] if expr.op == "matches" else None
        if isinstance(pattern, ir_cel.Literal):
            subject = self._term(expr.args[0], scope)
            return Term(self.matches(subject.value, str(pattern.value)), subject.error, "bool")
        terms = [self._term(arg, scope) for arg in expr.args]
        error = z3.Or(*(term.error for term in terms)) if terms else _NO
        values = [term.value for term in terms]
        kind = expr.type.kind
        match expr.op:
            case "same":
                return terms[0]
            case "size":
                return Term(z3.Length(values[0]), error, kind)
            case "utf8_size":
                return Term(self._utf8_size(values[0]), error, kind)
            case "is_nan":
                return Term(z3.fpIsNaN(values[0]), error, kind)
            case "is_inf" if len(values) == 2 and isinstance(expr.args[1], ir_cel.Literal):
                sign = expr.args[1].value
                infinite = z3.fpIsInf(values[0])
                if isinstance(sign, int) and sign:
                    infinite = z3.And(infinite, (z3.fpIsPositive if sign > 0 else z3.fpIsNegative)(values[0]))
                return Term(infinite, error, kind)
            case "starts_with" | "ends_with" | "contains":
                return Term(self._part(expr, values), error, kind)
            case "concat" if kind in ("string", "bytes"):
                return Term(z3.Concat(*values), error, kind)
            case "neg_int":
                return Term(-values[0], z3.Or(error, values[0] == _INT64[0]), kind)
            case "neg_double":
                return Term(z3.fpNeg(values[0]), error, kind)
            case "double_of_int":
                return Term(_as_double(terms[0]), error, kind)
            case "int_of_uint":
                return Term(values[0], z3.Or(error, values[0] > _INT64[1]), kind)
            case "uint_of_int":
                return Term(values[0], z3.Or(error, values[0] < 0), kind)
            case op if op in _INTEGER:
                function, (low, high) = _INTEGER[op]
                result = function(*values)
                return Term(result, z3.Or(error, result < low, result > high), kind)
            case op if op in _DOUBLE:
                return Term(_DOUBLE[op](z3.RNE(), *values), error, kind)
            case _:
                return self._unknown(expr, terms, error)

    def _part(self, expr: ir_cel.Call, values: list[Any]) -> Any:
        """That a text has a part. A constant part is a pattern too, so that it can be compared with others."""
        text, part = values
        is_part = _PARTS[expr.op][0](text, part)
        constant_part = expr.args[1]
        if isinstance(constant_part, ir_cel.Literal) and isinstance(constant_part.value, str):
            start, end = _PARTS[expr.op][1:]
            pattern = f"{start}{re2.escape(constant_part.value)}{end}"
            self.parts.add(pattern)
            self.world.axioms.append(self.matches(text, pattern) == is_part)
        return is_part

    def _unique(self, expr: ir_cel.Call, scope: Scope) -> Term:
        container = self._lower(expr.args[0], scope)
        if not isinstance(container, Place) or container.node.size is None:
            raise NoTerm("uniqueness of something computed")
        node = container.node
        if self.world.bound is None:
            holds = z3.Bool(f"unique {node.name}")
            self.world.axioms.append(z3.Implies(node.size <= 1, holds))
            return Term(holds, container.error, "bool")
        pairs = [
            z3.Implies(node.size > at, z3.Not(_same(self.scalar(node.items[at]), self.scalar(other))))
            for at in range(len(node.items))
            for other in node.items[:at]
        ]
        return Term(z3.And(*pairs), container.error, "bool")

    def _utf8_size(self, text: Any) -> Any:
        size = UTF8_SIZE(text)
        if not any(text.eq(known) for known in self.measured):
            self.measured.append(text)
            self.world.axioms += [size >= z3.Length(text), size <= 4 * z3.Length(text)]
        return size

    def matches(self, text: Any, pattern: str) -> Any:
        """That a text matches a pattern."""
        asked = self.patterns.setdefault(pattern, [])
        if not any(text.eq(known) for known in asked):
            asked.append(text)
        return matches(pattern)(text)

    def _unknown(self, expr: ir_cel.Call, terms: list[Term], error: Any) -> Term:
        if expr.type.kind not in _SORTS:
            raise NoTerm(f"{expr.op} of no scalar")
        sorts = [term.value.sort() for term in terms]
        function = operation(expr.op, sorts, _SORTS[expr.type.kind]())
        values = [term.value for term in terms]
        if expr.raises:
            error = z3.Or(error, operation(f"error of {expr.op}", sorts, z3.BoolSort())(*values))
        elif expr.args[0].type.kind == "string" and expr.type.kind == "bool":
            self._note_format(expr, function, values)
        return Term(function(*values), error, expr.type.kind)

    def _note_format(self, expr: ir_cel.Call, function: Any, values: list[Any]) -> None:
        rest = expr.args[1:]
        if not all(isinstance(arg, ir_cel.Literal) for arg in rest):
            return

        def answer(text: str) -> bool | None:
            found = fold(ir_cel.Call(expr.type, expr.op, (ir_cel.Literal(ir_cel.STRING, text), *rest)))
            return bool(found.value) if isinstance(found, ir_cel.Literal) else None

        self.formats.append((values[0], lambda term: function(term, *values[1:]), answer))


#: The length of a text in bytes, which z3 has no theory for.
UTF8_SIZE: Final = z3.Function("utf8 size", z3.StringSort(), z3.IntSort())


def operation(name: str, sorts: list[Any], result: Any) -> Any:
    """An operation of CEL as a function that z3 knows nothing about. The operands' sorts belong to its name: one
    operation has several.
    """
    return z3.Function(f"{name} of {' '.join(map(str, sorts))}", *sorts, result)


def matches(pattern: str) -> Any:
    """Whether a text matches a pattern, as a function that z3 knows nothing about."""
    return z3.Function(f"matches {pattern}", z3.StringSort(), z3.BoolSort())


def _content(expr: ir_cel.Expr) -> ir_cel.Expr:
    """A program that yields a text, as the condition that the text is empty."""
    match expr:
        case ir_cel.Literal():
            return ir_cel.TRUE if expr.value == "" else ir_cel.FALSE
        case ir_cel.Cond():
            then, otherwise = _content(expr.then), _content(expr.otherwise)
            if otherwise == ir_cel.TRUE and then == ir_cel.FALSE:
                return ir_cel.negate(expr.condition)
            return ir_cel.Cond(ir_cel.BOOL, expr.condition, then, otherwise)
        case _:
            return ir_cel.Compare("eq", expr, ir_cel.Literal(ir_cel.STRING, ""))


def is_set(world: World, node: Node) -> Any:
    """That a field is set, as ``has()`` and ``required`` see it."""
    if node.present is not None:
        return node.present
    default = world.is_default(node)
    return z3.BoolVal(True) if default is None else z3.Not(default)


def _settled(term: Term, value: bool) -> Any:
    """That a condition has this value and no error."""
    return z3.And(z3.Not(term.error), term.value if value else z3.Not(term.value))


def _not(formula: Any) -> Any:
    return z3.Not(formula)


def _as_double(term: Term) -> Any:
    if term.kind == "double":
        return term.value
    return z3.fpRealToFP(z3.RNE(), z3.ToReal(term.value), z3.Float64())


def _same(left: Lowered, right: Lowered) -> Any:
    if not isinstance(left, Term) or not isinstance(right, Term):
        raise NoTerm("equality of more than scalars")
    if "double" in (left.kind, right.kind):
        return z3.fpEQ(_as_double(left), _as_double(right))
    return left.value == right.value
