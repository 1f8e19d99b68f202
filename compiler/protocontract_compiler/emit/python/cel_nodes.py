"""Node by node from a CEL tree to Python source."""

from __future__ import annotations

import keyword
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from protocontract_compiler.cel.regex import compile_pattern
from protocontract_compiler.emit.python import cel_source as source
from protocontract_compiler.emit.python.cel_source import Code
from protocontract_compiler.ir import WRAPPERS
from protocontract_compiler.ir_cel import (
    And,
    Call,
    Compare,
    Cond,
    Expr,
    FieldRef,
    Has,
    In,
    ListExpr,
    Literal,
    Macro,
    MapExpr,
    Not,
    Or,
    Select,
    Type,
    Unwrap,
    Value,
    Var,
    can_raise,
    negate,
    walk,
)

if TYPE_CHECKING:
    from protocontract_compiler.emit.python.cel_expr import Scope

_OPERATORS: Final = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_ARITHMETIC: Final = {
    "add_double": ("+", source.SUM),
    "sub_double": ("-", source.SUM),
    "mul_double": ("*", source.PRODUCT),
    "add_nanos": ("+", source.SUM),
    "sub_nanos": ("-", source.SUM),
    "concat": ("+", source.SUM),
}
_COMPARING: Final = {"contains": ("in", "not in"), "is_nan": ("!=", "=="), "matches": ("is not", "is")}
_METHODS: Final = {"starts_with": "startswith", "ends_with": "endswith"}
_TIMES: Final = frozenset({"timestamp", "duration"})
_ROTATED: Final = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_SHORTEST_SET: Final = 4
"""From this many members on, membership is tested in a frozenset rather than a tuple."""


class Emitter:
    """Emits one expression; ``prelude`` collects the statements that must run before it."""

    def __init__(self, this: str, scope: Scope, now: str | None, items: str = "") -> None:
        self._this = this
        self._items = items
        self._scope = scope
        self._now = now
        self._locals: dict[int, str] = {}
        self.prelude: list[str] = []

    def root(self, expr: Expr) -> Code:
        """The code of a whole expression; a quantifier there becomes a loop in the prelude."""
        self._read_clock_once(expr)
        match expr:
            case Macro(kind="all" | "exists") if not can_raise(expr):
                return self._loop(expr, found=expr.kind == "exists")
            case Not(operand=Macro(kind="all" | "exists") as macro) if not can_raise(macro):
                return self._loop(macro, found=macro.kind == "all")
            case _:
                return self.expr(expr)

    def _read_clock_once(self, expr: Expr) -> None:
        """Every ``now`` of one rule is the same instant."""
        if self._now is None or self._now.isidentifier():
            return
        if sum(isinstance(node, Var) and node.name == "now" and not node.slot for node in walk(expr)) > 1:
            name = self._scope.temp("now")
            self.prelude.append(f"{name} = {self._now}")
            self._now = name

    def expr(self, expr: Expr) -> Code:
        """The code of any node."""
        match expr:
            case Literal():
                return self._literal(expr)
            case Var():
                return self._variable(expr)
            case Select():
                return self._select(expr)
            case Has():
                return self._has(expr)
            case Not():
                return self._not(expr)
            case And():
                return self._logical("and", expr.operands)
            case Or():
                return self._logical("or", expr.operands)
            case Cond():
                return source.conditional(self.expr(expr.condition), self.expr(expr.then), self.expr(expr.otherwise))
            case Compare():
                return self._compare(expr)
            case In():
                return self._in(expr, negated=False)
            case Call():
                return self._call(expr)
            case Unwrap():
                return self._helper("unwrap", self.expr(expr.operand))
            case ListExpr():
                return Code(f"[{', '.join(self.expr(item).text for item in expr.items)}]")
            case MapExpr():
                pairs = [Code(f"({self.expr(key).text}, {self.expr(item).text})") for key, item in expr.entries]
                return self._helper("map_display", *pairs)
            case Macro():
                return self._macro(expr)

    def _helper(self, name: str, *arguments: Code) -> Code:
        return source.call(self._scope.runtime(f"cel_{name}"), *arguments)

    # ------------------------------------------------------------------------------------------------------------------
    # Leaves and fields

    def _literal(self, expr: Literal) -> Code:
        if expr.type.kind == "list":
            return Code(self._scope.constant(_list_code(expr.value), "list"))
        if expr.type.kind == "map":
            return Code(self._scope.constant(_map_code(expr.value), "map"))
        return source.literal(expr.value)

    def _variable(self, expr: Var) -> Code:
        if expr.slot:
            return Code(self._locals[expr.slot])
        if expr.name == "now":
            if self._now is None:
                raise ValueError("the expression reads the clock; expected code for now, got None")
            return _code(self._now)
        if expr.type.kind in ("list", "map"):
            return self._converted(_code(self._this), expr.type, self._items)
        return _code(self._this)

    def _select(self, expr: Select) -> Code:
        return self._read(expr.operand, expr.field)

    def _is_this(self, operand: Expr) -> bool:
        return isinstance(operand, Var) and operand.name == "this" and not operand.slot

    def _read(self, operand: Expr, field: FieldRef) -> Code:
        """A field's value, converted from what protobuf stores."""
        if field.type.nullable:
            base = self.expr(operand)
            stored = self._stored(operand, base, field)
            return source.conditional(
                self._present(operand, base, field), Code(f"{stored.within(source.ATOM)}.value"), Code("None")
            )
        stored = self._stored(operand, self.expr(operand), field)
        if field.cardinality != "singular":
            return self._converted(stored, field.type, field.message_type)
        if field.type.kind in _TIMES:
            return self._nanos(stored)
        if field.message_type in WRAPPERS:
            return Code(f"{stored.within(source.ATOM)}.value")
        return stored

    def _container(self, expr: Expr) -> Code:
        """A list or map of which only the size or the keys are needed: as it is stored, nothing converted."""
        match expr:
            case Select() if expr.field.cardinality != "singular":
                return self._stored(expr.operand, self.expr(expr.operand), expr.field)
            case Var(name="this", slot=0):
                return _code(self._this)
            case _:
                return self.expr(expr)

    def _range(self, expr: Expr) -> Code:
        return self._container(expr) if expr.type.kind == "map" else self.expr(expr)

    def _stored(self, operand: Expr, base: Code, field: FieldRef) -> Code:
        if self._is_this(operand):
            return _code(self._scope.read(base.text, field.message, field))
        if keyword.iskeyword(field.name):
            return Code(f'getattr({base.text}, "{field.name}")')
        return Code(f"{base.within(source.ATOM)}.{field.name}")

    def _nanos(self, message: Code) -> Code:
        if not message.text.isidentifier():
            return self._helper("nanos", message)
        return Code(f"{message.text}.seconds * 1_000_000_000 + {message.text}.nanos", source.SUM)

    def _converted(self, container: Code, type_: Type, message_type: str = "") -> Code:
        """A stored list or map with times as nanoseconds and wrappers unwrapped."""
        item = type_.args[-1]
        wrapped = message_type in WRAPPERS
        if (item.kind == "duration" and type_.kind == "list") or (item.kind not in _TIMES and not wrapped):
            return container  # durations are converted one by one, each may be out of range
        container = Code(container.after(source.CONDITIONAL))
        name = self._scope.temp("item")
        value = self._nanos(Code(name)) if item.kind in _TIMES else Code(f"{name}.value")
        if type_.kind == "list":
            return Code(f"[{value.text} for {name} in {container.text}]")
        # Not items(): on protobuf's maps it costs three times as much as keys and look-ups.
        value = (
            self._nanos(Code(f"{container.text}[{name}]"))
            if item.kind in _TIMES
            else (Code(f"{container.text}[{name}].value"))
        )
        return Code(f"{{{name}: {value.text} for {name} in {container.text}}}")

    def _has(self, expr: Has) -> Code:
        return self._present(expr.operand, self.expr(expr.operand), expr.field)

    def _present(self, operand: Expr, base: Code, field: FieldRef) -> Code:
        if self._is_this(operand):
            return _code(self._scope.has(base.text, field.message, field))
        if field.cardinality != "singular":
            return Code(f"len({self._stored(operand, base, field).text}) != 0", source.COMPARISON)
        if field.has_presence:
            return source.method(base, "HasField", source.literal(field.name))
        stored = self._stored(operand, base, field)
        match field.type.kind:
            case "double":
                return self._helper("is_set_double", stored)
            case "bool":
                return stored
            case "string" | "bytes":
                empty = source.literal("" if field.type.kind == "string" else b"")
                return source.comparison("!=", stored, empty)
            case _:
                return source.comparison("!=", stored, source.literal(0))

    # ------------------------------------------------------------------------------------------------------------------
    # Logic and comparison

    def _not(self, expr: Not) -> Code:
        if isinstance(expr.operand, In):
            return self._in(expr.operand, negated=True)
        if isinstance(expr.operand, Call) and expr.operand.op in _COMPARING:
            return self._comparing(expr.operand, negated=True)
        turned = negate(expr.operand)
        if not isinstance(turned, Not | And | Or):
            return self.expr(turned)
        return source.negated(self.expr(expr.operand))

    def _logical(self, operator: str, operands: tuple[Expr, ...]) -> Code:
        if any(can_raise(operand) for operand in operands[:-1]):
            thunks = [Code(f"lambda: {self.expr(operand).text}", source.LAMBDA) for operand in operands]
            return self._helper(operator, *thunks)
        if operator == "or":
            order = self._not_number_or_outside(operands)
            if order is not None:
                return order
            operands = self._affixes(operands)
        else:
            operands = tuple(map(negate, self._affixes(tuple(map(negate, operands)))))
        if len(operands) == 1:
            return self.expr(operands[0])
        chained = self._chain(operator, operands)
        if chained is not None:
            return chained
        return source.joined(operator, [self.expr(operand) for operand in operands])

    def _chain(self, operator: str, operands: tuple[Expr, ...]) -> Code | None:
        """``low < x < high`` for two bounds of one operand, ``not low <= x <= high`` for their complement."""
        bounds = operands if operator == "and" else tuple(map(negate, operands))
        if len(bounds) != 2 or not all(isinstance(bound, Compare) for bound in bounds):
            return None
        sides = [_bound(bound) for bound in bounds if isinstance(bound, Compare)]
        lower = next((side for side in sides if side and side[1] in ("gt", "ge")), None)
        upper = next((side for side in sides if side and side[1] in ("lt", "le")), None)
        if lower is None or upper is None or lower[0] != upper[0]:
            return None
        text = (
            f"{self.expr(lower[2]).after(source.COMPARISON)} {_OPERATORS[_ROTATED[lower[1]]]} "
            f"{self.expr(lower[0]).after(source.COMPARISON)} {_OPERATORS[upper[1]]} "
            f"{self.expr(upper[2]).after(source.COMPARISON)}"
        )
        inside = Code(text, source.COMPARISON)
        return inside if operator == "and" else source.negated(inside)

    def _not_number_or_outside(self, operands: tuple[Expr, ...]) -> Code | None:
        """``isNan(x) || x >= high`` as ``not x < high``: an order of NaN is false."""
        first, *rest = operands
        if not (isinstance(first, Call) and first.op == "is_nan") or not rest:
            return None
        value = first.args[0]
        inside: list[Expr] = []
        for operand in rest:
            bound = _bound(operand) if isinstance(operand, Compare) else None
            if bound is None or bound[0] != value or _is_nan(bound[2]):
                return None
            turned = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}[bound[1]]
            inside.append(Compare(turned, value, bound[2]))  # type: ignore[arg-type]  # one of the four orders
        code = self.expr(inside[0]) if len(inside) == 1 else self._logical("and", tuple(inside))
        return source.negated(code)

    def _affixes(self, operands: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Neighbouring ``startsWith`` of one text with constants become one test of a tuple."""
        merged: list[Expr] = []
        for operand in operands:
            last = merged[-1] if merged else None
            if (
                isinstance(operand, Call)
                and operand.op in _METHODS
                and isinstance(operand.args[1], Literal)
                and isinstance(last, Call)
                and last.op == operand.op
                and last.args[0] == operand.args[0]
                and isinstance(last.args[1], Literal)
            ):
                before = last.args[1].value
                prefixes = (*(before if isinstance(before, tuple) else (before,)), operand.args[1].value)
                merged[-1] = Call(last.type, last.op, (last.args[0], Literal(operand.args[1].type, prefixes)))
            else:
                merged.append(operand)
        return tuple(merged)

    def _compare(self, expr: Compare) -> Code:
        left, right = expr.left, expr.right
        if isinstance(left, Literal) and not isinstance(right, Literal):
            return self._compare(Compare(_ROTATED[expr.op], right, left, expr.mixed))  # type: ignore[arg-type]
        if expr.op in ("eq", "ne"):
            special = self._equality(expr, left, right)
            if special is not None:
                return special
        codes = self.expr(left), self.expr(right)
        if expr.mixed:
            codes = self._as_double(left, codes[0]), self._as_double(right, codes[1])
        return source.comparison(_OPERATORS[expr.op], *codes)

    def _equality(self, expr: Compare, left: Expr, right: Expr) -> Code | None:
        kind = left.type.kind
        if right.type.kind == "null":
            return source.comparison("is" if expr.op == "eq" else "is not", self.expr(left), Code("None"))
        if kind == "bool" and isinstance(right, Literal) and not left.type.nullable:
            positive = bool(right.value) == (expr.op == "eq")
            return self.expr(left) if positive else source.negated(self.expr(left))
        if kind in ("list", "map"):
            build = "list" if kind == "list" else "dict"
            codes = [self.expr(side) for side in (left, right)]
            sides = [code if code.text[0] in "[{" else source.call(build, code) for code in codes]
            return source.comparison(_OPERATORS[expr.op], *sides)
        return None

    @staticmethod
    def _as_double(expr: Expr, code: Code) -> Code:
        if expr.type.kind == "double":
            return code
        if isinstance(expr, Literal) and isinstance(expr.value, int):
            return source.literal(float(expr.value))
        return source.call("float", code)

    def _in(self, expr: In, *, negated: bool) -> Code:
        item = self.expr(expr.item)
        operator = "not in" if negated else "in"
        container = expr.container
        if isinstance(container, Literal) and isinstance(container.value, tuple):
            return self._in_constants(expr.item, item, operator, container)
        if isinstance(container, ListExpr):
            parts = [source.comparison("==", item, self.expr(member)) for member in container.items]
            simple = not can_raise(container) and item.text.isidentifier()
            if simple and len(parts) > 1 and container.type.element.kind == "double":
                found = source.joined("or", parts)
                return source.negated(found) if negated else found
        code = self.expr(container)
        if container.type.kind == "map" and container.type.args[0].kind != "string":
            found = self._helper("in_map", item, code)
        elif container.type.element.kind == "double":
            found = self._helper("in_doubles", item, code)
        else:
            return source.comparison(operator, item, code)
        return source.negated(found) if negated else found

    def _in_constants(self, expr: Expr, item: Code, operator: str, container: Literal) -> Code:
        values = container.value if isinstance(container.value, tuple) else ()
        if container.type.kind == "map":
            values = tuple(pair[0] for pair in values if isinstance(pair, tuple))
        values = tuple(value for value in values if value == value)  # a NaN equals nothing
        if len(values) == 1 and not expr.type.nullable:
            return source.comparison("==" if operator == "in" else "!=", item, source.literal(values[0]))
        if len(values) < _SHORTEST_SET:
            return source.comparison(operator, item, Code(_tuple_code(values)))
        name = self._scope.constant(f"frozenset({_tuple_code(values)})", "set")
        return source.comparison(operator, item, Code(name))

    # ------------------------------------------------------------------------------------------------------------------
    # Calls

    def _call(self, expr: Call) -> Code:
        if expr.op in _ARITHMETIC:
            operator, precedence = _ARITHMETIC[expr.op]
            left, right = map(self.expr, expr.args)
            return source.binary(operator, left, right, precedence)
        if expr.op in _COMPARING:
            return self._comparing(expr)
        special: Callable[[Call], Code] | None = getattr(self, f"_op_{expr.op}", None)
        if special is not None:
            return special(expr)
        return self._helper(expr.op, *map(self.expr, expr.args))

    def _op_neg_double(self, expr: Call) -> Code:
        return Code(f"-{self.expr(expr.args[0]).within(source.UNARY)}", source.UNARY)

    def _op_duration_of_message(self, expr: Call) -> Code:
        return self._helper("duration_in_range", self._nanos(self.expr(expr.args[0])))

    def _op_size(self, expr: Call) -> Code:
        return source.call("len", self._container(expr.args[0]))

    def _op_utf8_size(self, expr: Call) -> Code:
        return self._helper("utf8_size", self.expr(expr.args[0]))

    def _op_starts_with(self, expr: Call) -> Code:
        affix = expr.args[1]
        if isinstance(affix, Literal) and isinstance(affix.value, tuple):
            return source.method(self.expr(expr.args[0]), _METHODS[expr.op], Code(_tuple_code(affix.value)))
        return source.method(self.expr(expr.args[0]), _METHODS[expr.op], self.expr(affix))

    _op_ends_with = _op_starts_with

    def _comparing(self, expr: Call, *, negated: bool = False) -> Code:
        """Operations that are comparisons in Python, each with its complement."""
        operator = _COMPARING[expr.op][negated]
        if expr.op == "matches":
            return source.comparison(operator, self._search(expr), Code("None"))
        operands = [self.expr(arg) for arg in expr.args]
        # Containment names the part first; a NaN is what differs from itself.
        return source.comparison(operator, operands[-1], operands[0])

    def _search(self, expr: Call) -> Code:
        text, pattern = expr.args
        if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
            raise ValueError("a regular expression that is not constant cannot be emitted")
        plan = compile_pattern(pattern.value)
        matcher = self._scope.constant(f"{plan.engine}.compile({source.string(plan.source)}).{plan.method}", "matches")
        subject = self.expr(text)
        if can_raise(text):
            subject = self._helper("abort", Code(f"lambda: {subject.text}", source.LAMBDA))
        return source.call(matcher, subject)

    def _op_int_of_bool(self, expr: Call) -> Code:
        return source.call("int", self.expr(expr.args[0]))

    def _op_double_of_int(self, expr: Call) -> Code:
        return source.call("float", self.expr(expr.args[0]))

    def _op_string_of_int(self, expr: Call) -> Code:
        return source.call("str", self.expr(expr.args[0]))

    def _op_bytes_of_string(self, expr: Call) -> Code:
        return source.method(self.expr(expr.args[0]), "encode")

    def _op_reverse(self, expr: Call) -> Code:
        return Code(f"{self.expr(expr.args[0]).within(source.ATOM)}[::-1]")

    def _op_concat_list(self, expr: Call) -> Code:
        left, right = (self.expr(arg).text for arg in expr.args)
        return Code(f"[*{left}, *{right}]")

    def _op_concat_texts(self, expr: Call) -> Code:
        """An f-string would have to escape constants again, so the pieces are simply joined."""
        return Code(" + ".join(self.expr(arg).after(source.SUM) for arg in expr.args), source.SUM)

    # ------------------------------------------------------------------------------------------------------------------
    # Macros

    def _bind(self, variable: Var) -> str:
        name = self._scope.temp(variable.name)
        self._locals[variable.slot] = name
        return name

    def _loop(self, macro: Macro, *, found: bool) -> Code:
        """A quantifier as a loop that stops early; the result variable is ``found`` if it stopped.

        ``found`` is what stopping means for the value wanted: for ``exists`` true, for a negated ``all`` true as well.
        """
        range_ = self._range(macro.range)
        result = self._scope.temp("found" if found else "ok")
        name = self._bind(macro.var)
        # "all" stops at an item for which the body is false, "exists" at one for which it is true.
        stop = self.expr(negate(macro.body) if macro.kind == "all" else macro.body)
        self.prelude += [
            f"{result} = {not found}",
            f"for {name} in {range_.text}:",
            f"    if {stop.text}:",
            f"        {result} = {found}",
            "        break",
        ]
        return Code(result)

    def _macro(self, expr: Macro) -> Code:
        range_ = self._range(expr.range)
        name = self._bind(expr.var)
        body = self.expr(expr.body)
        if expr.kind in ("all", "exists"):
            if can_raise(expr.body):
                return self._helper(expr.kind, range_, Code(f"lambda {name}: {body.text}", source.LAMBDA))
            function = "all" if expr.kind == "all" else "any"
            return Code(f"{function}({body.text} for {name} in {range_.after(source.CONDITIONAL)})")
        order = range_.after(source.CONDITIONAL)
        if expr.kind == "exists_one":
            matching = f"sum(1 for {name} in {order} if {body.after(source.CONDITIONAL)})"
            return source.comparison("==", Code(matching), Code("1"))
        if expr.range.type.kind == "map":
            order = f"sorted({range_.text})"
        condition = expr.body if expr.kind == "filter" else expr.where
        where = "" if condition is None else f" if {self.expr(condition).after(source.CONDITIONAL)}"
        item = name if expr.kind == "filter" else body.text
        return Code(f"[{item} for {name} in {order}{where}]")


def _bound(compare: Compare) -> tuple[Expr, str, Expr] | None:
    """An order as (operand, relation, constant), whichever side the constant stands on."""
    if compare.mixed or compare.op in ("eq", "ne"):
        return None
    if isinstance(compare.right, Literal):
        return compare.left, compare.op, compare.right
    if isinstance(compare.left, Literal):
        return compare.right, _ROTATED[compare.op], compare.left
    return None


def _is_nan(expr: Expr) -> bool:
    return isinstance(expr, Literal) and expr.value != expr.value


def _code(text: str) -> Code:
    """Code from outside: a name, an attribute, a call or a subscript stands alone, anything else gets parentheses."""
    plain = text.replace(".", "").isidentifier()
    return Code(text, source.ATOM if plain or _is_primary(text) else source.LAMBDA)


def _is_primary(text: str) -> bool:
    """Whether text is a name followed by balanced brackets and attributes only."""
    depth = 0
    for character in text:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and not (character.isalnum() or character in "._"):
            return False
    return not text[:1].isdigit()


def _tuple_code(values: tuple[Value, ...]) -> str:
    codes = [_value_code(value) for value in values]
    return f"({codes[0]},)" if len(codes) == 1 else f"({', '.join(codes)})"


def _list_code(value: Value) -> str:
    """A tuple: constants are shared, so they must not change."""
    return _tuple_code(value) if isinstance(value, tuple) else repr(value)


def _map_code(value: Value) -> str:
    pairs = value if isinstance(value, tuple) else ()
    return "{" + ", ".join(f"{_value_code(p[0])}: {_value_code(p[1])}" for p in pairs if isinstance(p, tuple)) + "}"


def _value_code(value: Value) -> str:
    return _tuple_code(value) if isinstance(value, tuple) else source.literal(value).text
