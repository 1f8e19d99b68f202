"""Node by node from a CEL tree to TypeScript.

The values in the code are those of ``ir_cel``'s table with JavaScript's types: an integer is a bigint, or a number
where it comes from a field of 32 bits or a length and is only compared; times are bigints of nanoseconds; a list is an
array, a map a Map with its keys in order; null is undefined. Positions in texts count code points: the helpers do.
"""

from __future__ import annotations

import re
from typing import Final, Protocol

from protocontract_compiler import ir
from protocontract_compiler.emit.typescript import access
from protocontract_compiler.emit.typescript import cel_code as code
from protocontract_compiler.emit.typescript.cel_code import Code, Held, type_code, value_code
from protocontract_compiler.emit.typescript.regex import pattern_code
from protocontract_compiler.emit.typescript.values import WRAPPED, canonical, held_by, is_set
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
    Unwrap,
    Var,
    can_raise,
    negate,
)

_OPERATORS: Final = {"eq": "===", "ne": "!==", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_ARITHMETIC: Final = {
    "add_double": ("+", code.SUM), "sub_double": ("-", code.SUM), "mul_double": ("*", code.PRODUCT),
    "div_double": ("/", code.PRODUCT), "add_nanos": ("+", code.SUM), "sub_nanos": ("-", code.SUM),
}  # fmt: skip
_INTEGERS: Final = frozenset({"int", "uint"})
_TIMES: Final = frozenset({"timestamp", "duration"})
#: A constant text or number.
_CONSTANT: Final = re.compile(r'-?[0-9][0-9.e+-]*n?|"(?:[^"\\]|\\.)*"')
#: From this many members on, membership is tested in a Set rather than an array.
_SHORTEST_SET: Final = 4

#: Operations by the helper module that has them; their functions are named in camelCase.
_HELPERS: Final = {
    op: path
    for path, ops in {
        "cel/numbers": "add_int sub_int mul_int neg_int div_int mod_int add_uint sub_uint mul_uint div_uint mod_uint "
        "int_of_uint uint_of_int int_of_double uint_of_double bool_of_string int_of_string uint_of_string is_inf",
        "cel/text": "char_at index_of index_of_from last_index_of last_index_of_from join lower_ascii upper_ascii "
        "replace replace_limit reverse split split_limit substring substring_from trim string_of_bytes",
        "cel/time": "add_duration sub_duration add_timestamp add_duration_timestamp sub_timestamp sub_timestamps "
        "timestamp_of_int int_of_timestamp string_of_timestamp string_of_duration duration_hours duration_minutes "
        "duration_seconds duration_milliseconds timestamp_part",
        "cel/format": "string_of_double format_f format_e format_binary format_octal format_hex format_hex_upper "
        "format_value",
        "cel/values": "index_list index_map unique",
        "formats/email": "is_email",
        "formats/hostname": "is_hostname is_host_and_port",
        "formats/ip": "is_ip is_ip_prefix",
        "formats/uri": "is_uri is_uri_ref",
    }.items()
    for op in ops.split()
}


class Unsupported(Exception):
    """An expression that TypeScript cannot evaluate exactly: why, and what helps."""

    def __init__(self, why: str, hint: str) -> None:
        super().__init__(why)
        self.why = why
        self.hint = hint


class Scope(Protocol):
    """What the validator's emitter offers to expressions."""

    def field(self, reference: FieldRef) -> tuple[ir.Message, ir.Field]:
        """The message and field that a reference means. Raises Unsupported where the schema has none."""
        ...

    def local(self, base: str, message: ir.Message, field: ir.Field) -> str:
        """Code that reads a scalar field of the message in variable ``base``: a local variable where that is known."""
        ...

    def empty(self, message: str) -> str:
        """The name of a constant that reads as a message of that type with nothing set."""
        ...

    def constant(self, value_code: str, hint: str, annotation: str = "") -> str:
        """The name of a constant that is evaluated once, with its type where TypeScript cannot tell."""
        ...

    def use(self, path: str, name: str) -> str:
        """The local name of a helper."""
        ...

    def temp(self, hint: str) -> str:
        """A fresh local name."""
        ...


def camel(name: str) -> str:
    """``add_int`` -> ``addInt``."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


class Emitter:
    """Emits one expression. ``this`` is code of the value that the rule sees; ``part`` the field of a container."""

    def __init__(self, this: Code, scope: Scope, now: str | None, part: ir.Field | None = None) -> None:
        self._this = this
        self._scope = scope
        self._now = now
        self._part = part
        self._locals: dict[int, Code] = {}
        # What was compared with a constant: TypeScript takes it for that constant afterwards.
        self._narrowed: set[str] = set()

    def expr(self, expr: Expr) -> Code:
        """The code of any node."""
        match expr:
            case Literal():
                return self._literal(expr)
            case Var():
                return self._variable(expr)
            case Select():
                return self._read(expr.operand, expr.field)
            case Has():
                return self._present(expr.operand, expr.field)
            case Not():
                return self._not(expr)
            case And():
                return self._logical("&&", expr.operands)
            case Or():
                return self._logical("||", expr.operands)
            case Cond():
                return self._conditional(expr)
            case Compare():
                return self._compare(expr)
            case In():
                return self._in(expr)
            case Call():
                return self._call(expr)
            case Unwrap():
                operand = self.expr(expr.operand)
                return code.call(self._use("cel/values", "unwrap"), operand.text, held=operand.held)
            case ListExpr():
                return Code(f"[{', '.join(map(self._big, expr.items))}]")
            case MapExpr():
                pairs = [f"[{self._big(key)}, {self._big(item)}]" for key, item in expr.entries]
                return code.call(self._use("cel/values", "mapDisplay"), *pairs)
            case Macro():
                return self._macro(expr)

    def _use(self, path: str, name: str) -> str:
        return self._scope.use(path, name)

    def _big(self, expr: Expr) -> str:
        """Code of a value in the form that lists, maps and helpers have: integers are bigints."""
        return self._as_big(expr, self.expr(expr))

    def _as_big(self, expr: Expr, operand: Code) -> str:
        if operand.held == "number" and expr.type.nullable:
            return f"{self._use('cel/values', 'big')}({operand.text})"
        return operand.big

    # -- leaves and fields

    def _literal(self, expr: Literal) -> Code:
        kind = expr.type.kind
        if kind in ("list", "map"):
            return Code(self._scope.constant(value_code(expr.value, expr.type), kind, type_code(expr.type)))
        if kind in _TIMES:
            shown = value_code(expr.value, expr.type)
            return Code(shown, code.UNARY if shown.startswith("-") else code.ATOM)
        if kind in _INTEGERS and isinstance(expr.value, int) and not isinstance(expr.value, bool):
            return code.integer(expr.value)
        return code.literal(expr.value)

    def _variable(self, expr: Var) -> Code:
        if expr.slot:
            return self._locals[expr.slot]
        if expr.name == "now":
            assert self._now is not None
            return Code(self._now)
        if expr.type.kind in ("list", "map"):
            assert self._part is not None
            return self._converted(self._this.text, self._part)
        return self._this

    def _is_this(self, operand: Expr) -> bool:
        return isinstance(operand, Var) and operand.name == "this" and not operand.slot

    def _base(self, operand: Expr) -> str:
        """Code of a message whose fields are read."""
        return self.expr(operand).within(code.ATOM)

    def _read(self, operand: Expr, reference: FieldRef) -> Code:
        """A field's value, converted from what protobuf-es stores."""
        message, field = self._scope.field(reference)
        base = self._base(operand)
        if field.shape is not ir.Shape.SINGULAR:
            return self._converted(access.read(base, message, field), field)
        if field.type not in ir.MESSAGE_TYPES:
            if self._is_this(operand):
                return Code(self._scope.local(base, message, field), held=held_by(field.type))
            return Code(self._stored(base, message, field), held=held_by(field.type))
        stored = self._stored(base, message, field)
        if reference.type.kind in _TIMES:
            return code.call(self._use("cel/time", "nanos"), stored)
        if field.message in ir.WRAPPERS:
            return self._wrapped(stored, field, nullable=reference.type.nullable)
        if field.message == access.STRUCT:
            raise Unsupported("it reads a google.protobuf.Struct", "state the rule on fields of a message of its own")
        return Code(f"({stored} ?? {self._scope.empty(str(field.message))})")

    def _stored(self, base: str, message: ir.Message, field: ir.Field) -> str:
        """Code of a stored value. TypeScript follows the cases of a oneof only where the message is a variable."""
        if field.oneof is None or base.isidentifier():
            return access.read(base, message, field)
        oneof = access.member(base, access.property_name(field.oneof))
        name, default = access.text(access.property_name(field.name)), access.default(field)
        return access.converted(f"{self._use('cel/values', 'memberOf')}({oneof}, {name}, {default})", field)

    def _wrapped(self, stored: str, field: ir.Field, *, nullable: bool) -> Code:
        """The value in a wrapper; undefined where it is not set, or its zero value if that is what null reads as."""
        type_, zero = WRAPPED[str(field.message)]
        value = stored if access.is_wrapped(field) else f"{stored}?.value"
        if not nullable:
            value = f"({value} ?? {zero})"
        elif not access.is_wrapped(field):
            value = f"({value})"
        if type_ == ir.TYPE_FLOAT:
            value = f"{self._use('cel/values', 'single')}({value})"
        return Code(value, held=held_by(type_))

    def _converted(self, container: str, field: ir.Field) -> Code:
        """A stored list or map with integers as bigints, times as nanoseconds and wrappers unwrapped."""
        element = field.value or field
        name = self._scope.temp("each")
        value = self._element(name, element)
        if field.key is None:
            return Code(container if value == name else f"{container}.map(({name}) => {value})")
        kind = "int" if access.key_kind(field) == "number" else access.key_kind(field)
        mapper = _arrow(name, value)
        return code.call(self._use("cel/values", f"{kind}Map"), container, mapper)

    def _element(self, name: str, element: ir.Field) -> str:
        if element.type in ir.MESSAGE_TYPES:
            if element.message in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
                return f"{self._use('cel/time', 'nanos')}({name})"
            if element.message in ir.WRAPPERS:
                return canonical(f"{name}.value", WRAPPED[element.message][0])
            if element.message == access.STRUCT:
                raise Unsupported(
                    "it reads a google.protobuf.Struct", "state the rule on fields of a message of its own"
                )
            return name
        return canonical(name, element.type)

    def _present(self, operand: Expr, reference: FieldRef) -> Code:
        message, field = self._scope.field(reference)
        return Code(is_set(self._base(operand), message, field), code.ARROW)

    # -- logic and comparison

    def _not(self, expr: Not) -> Code:
        turned = negate(expr.operand)
        if not isinstance(turned, Not | And | Or):
            return self.expr(turned)
        return code.negated(self.expr(expr.operand))

    def _logical(self, operator: str, operands: tuple[Expr, ...]) -> Code:
        if any(can_raise(operand) for operand in operands[:-1]):
            helper = self._use("cel/logic", "and" if operator == "&&" else "or")
            return code.call(helper, *(f"() => {self.expr(operand).text}" for operand in operands))
        return code.joined(operator, [self.expr(operand) for operand in operands])

    def _conditional(self, expr: Cond) -> Code:
        then, otherwise = self.expr(expr.then), self.expr(expr.otherwise)
        held = then.held
        if then.held != otherwise.held:
            then, otherwise, held = Code(then.big), Code(otherwise.big), "bigint"
        condition = self.expr(expr.condition).after(code.CONDITIONAL)
        return Code(
            f"{condition} ? {then.after(code.CONDITIONAL)} : {otherwise.after(code.CONDITIONAL)}",
            code.CONDITIONAL,
            held,
        )

    def _compare(self, expr: Compare) -> Code:
        left, right = self.expr(expr.left), self.expr(expr.right)
        operator, kind = _OPERATORS[expr.op], expr.left.type.kind
        if expr.mixed:
            return self._infix(operator, self._as_double(expr.left, left), self._as_double(expr.right, right))
        if kind in _INTEGERS:
            return self._integers(expr, operator, left, right)
        if kind in ("list", "map", "bytes") and expr.op in ("eq", "ne") and expr.right.type.kind != "null":
            found = code.call(self._use("cel/values", "equal"), left.text, right.text)
            return found if expr.op == "eq" else code.negated(found)
        if kind in ("string", "bytes") and expr.op not in ("eq", "ne"):
            path = ("codepoints", "compareText") if kind == "string" else ("cel/values", "compareBytes")
            return code.comparison(operator, f"{self._use(*path)}({left.text}, {right.text})", "0")
        if kind == "bool" and expr.op not in ("eq", "ne"):
            return code.comparison(operator, f"Number({left.text})", f"Number({right.text})")
        return self._infix(operator, left, right)

    def _infix(self, operator: str, left: Code, right: Code) -> Code:
        tightness = code.RELATION
        if operator in ("===", "!=="):
            tightness = code.EQUALITY
            left, right = self._widened(left, right), self._widened(right, left)
        return code.comparison(operator, left.after(tightness), right.after(tightness))

    def _widened(self, operand: Code, other: Code) -> Code:
        """A constant, as of its whole type where what it is compared with was compared with a constant before."""
        constant = _CONSTANT.fullmatch(operand.text)
        if constant is None or _CONSTANT.fullmatch(other.text):
            return operand
        if other.text in self._narrowed:
            type_ = "string" if operand.text.startswith('"') else "bigint" if operand.text.endswith("n") else "number"
            return Code(f"({operand.text} as {type_})")
        self._narrowed.add(other.text)
        return operand

    def _integers(self, expr: Compare, operator: str, left: Code, right: Code) -> Code:
        """Integers of one representation are compared as they are; orders are exact between both."""
        if expr.op in ("eq", "ne") and left.held != right.held:
            nullable = expr.left.type.nullable or expr.right.type.nullable
            left, right = self._unified(left, nullable=nullable), self._unified(right, nullable=nullable)
        return self._infix(operator, left, right)

    def _unified(self, operand: Code, *, nullable: bool) -> Code:
        if operand.held == "number" and nullable and not operand.text.removeprefix("-").isdigit():
            return code.call(self._use("cel/values", "big"), operand.text, held="bigint")
        return Code(operand.big, operand.precedence if operand.held == "bigint" else code.UNARY, "bigint")

    @staticmethod
    def _as_double(expr: Expr, operand: Code) -> Code:
        if expr.type.kind == "double" or operand.held == "number":
            return operand
        return code.call("Number", operand.text)

    def _in(self, expr: In) -> Code:
        item, container = self.expr(expr.item), expr.container
        kind = container.type.element.kind
        nullable = expr.item.type.nullable
        if isinstance(container, Literal) and isinstance(container.value, tuple) and kind != "bytes":
            return self._in_constants(expr.item, item, container)
        held = self.expr(container)
        wanted = self._as_big(expr.item, item)
        if container.type.kind == "map":
            return Code(f"{held.within(code.ATOM)}.has({wanted})")
        if kind in ("bytes", "double") or nullable:
            return code.call(self._use("cel/values", "contains"), held.text, wanted)
        return Code(f"{held.within(code.ATOM)}.includes({wanted})")

    def _in_constants(self, expr: Expr, item: Code, container: Literal) -> Code:
        assert isinstance(container.value, tuple)
        values = container.value
        if container.type.kind == "map":
            values = tuple(pair[0] for pair in values if isinstance(pair, tuple))
        values = tuple(value for value in values if value == value)  # a NaN equals nothing
        element = container.type.element
        numbers = item.held == "number" and all(isinstance(value, int) and abs(value) < 2**53 for value in values)
        if numbers:
            codes = [str(int(value)) for value in values if isinstance(value, int)]
        else:
            codes = [value_code(value, element) for value in values]
        item_text = item.text if numbers else self._as_big(expr, item)
        if expr.type.nullable:
            return code.call(self._use("cel/values", "contains"), f"[{', '.join(codes)}]", item_text)
        if len(values) == 1:
            return self._infix("===", Code(item_text, item.precedence), Code(codes[0], code.ATOM))
        if len(values) < _SHORTEST_SET:
            return Code(f"[{', '.join(codes)}].includes({item_text})")
        name = self._scope.constant(f"/* @__PURE__ */ new Set([{', '.join(codes)}])", "set")
        return Code(f"{name}.has({item_text})")

    # -- calls

    def _call(self, expr: Call) -> Code:
        if expr.op in _ARITHMETIC:
            operator, precedence = _ARITHMETIC[expr.op]
            left, right = map(self.expr, expr.args)
            return Code(f"{left.within(precedence)} {operator} {right.after(precedence)}", precedence)
        special = getattr(self, f"_op_{expr.op}", None)
        if special is not None:
            found: Code = special(expr)
            return found
        path = _HELPERS.get(expr.op)
        if path is None:
            raise Unsupported(f"TypeScript has no exact form of {expr.op}", "state the rule without it")
        held: Held = "bigint" if expr.type.kind in _INTEGERS else ""
        return code.call(self._use(path, camel(expr.op)), *map(self._big, expr.args), held=held)

    def _op_neg_double(self, expr: Call) -> Code:
        return Code(f"-{self.expr(expr.args[0]).after(code.UNARY)}", code.UNARY)

    def _op_concat(self, expr: Call) -> Code:
        left, right = map(self.expr, expr.args)
        if expr.type.kind == "bytes":
            return code.call(self._use("cel/values", "concatBytes"), left.text, right.text)
        return Code(f"{left.within(code.SUM)} + {right.after(code.SUM)}", code.SUM)

    def _op_concat_texts(self, expr: Call) -> Code:
        return Code(" + ".join(self.expr(arg).after(code.SUM) for arg in expr.args), code.SUM)

    def _op_concat_list(self, expr: Call) -> Code:
        left, right = (self.expr(arg).text for arg in expr.args)
        return Code(f"[...{left}, ...{right}]")

    def _op_size(self, expr: Call) -> Code:
        operand = expr.args[0]
        if operand.type.kind == "string":
            return code.call(self._use("codepoints", "size"), self.expr(operand).text, held="number")
        stored = self._stored_container(operand)
        if stored is not None and operand.type.kind == "map":
            return Code(f"Object.keys({stored}).length", held="number")
        text = stored if stored is not None else self.expr(operand).within(code.ATOM)
        return Code(f"{text}.{'size' if operand.type.kind == 'map' else 'length'}", held="number")

    def _stored_container(self, expr: Expr) -> str | None:
        """A list or map as protobuf-es stores it, where only its size is needed."""
        match expr:
            case Select() if expr.field.cardinality != "singular":
                message, field = self._scope.field(expr.field)
                return access.read(self._base(expr.operand), message, field)
            case Var(name="this", slot=0) if expr.type.kind in ("list", "map"):
                return self._this.text
        return None

    def _op_utf8_size(self, expr: Call) -> Code:
        return code.call(self._use("cel/text", "utf8Size"), self.expr(expr.args[0]).text, held="number")

    def _op_contains(self, expr: Call) -> Code:
        return self._text_method(expr, "includes", "containsBytes")

    def _op_starts_with(self, expr: Call) -> Code:
        return self._text_method(expr, "startsWith", "startsWithBytes")

    def _op_ends_with(self, expr: Call) -> Code:
        return self._text_method(expr, "endsWith", "endsWithBytes")

    def _text_method(self, expr: Call, method: str, of_bytes: str) -> Code:
        left, right = map(self.expr, expr.args)
        if expr.args[0].type.kind == "bytes":
            return code.call(self._use("cel/values", of_bytes), left.text, right.text)
        return Code(f"{left.within(code.ATOM)}.{method}({right.text})")

    def _op_matches(self, expr: Call) -> Code:
        text, pattern = expr.args
        assert isinstance(pattern, Literal)
        found = pattern_code(str(pattern.value), self._use)
        if found is None:
            raise Unsupported(
                "its regular expression has parts that RE2 and JavaScript read differently",
                "write it with sets of characters, groups, repetitions and the anchors ^ and $ at its ends",
            )
        matcher = self._scope.constant(found, "pattern")
        subject = self.expr(text).text
        if can_raise(text):
            subject = f"{self._use('cel/logic', 'abort')}(() => {subject})"
        return Code(f"{matcher}.test({subject})")

    def _op_is_nan(self, expr: Call) -> Code:
        return code.call("Number.isNaN", self.expr(expr.args[0]).text)

    def _op_int_of_bool(self, expr: Call) -> Code:
        return code.call("Number", self.expr(expr.args[0]).text, held="number")

    def _op_double_of_int(self, expr: Call) -> Code:
        return code.call("Number", self.expr(expr.args[0]).text)

    def _op_string_of_int(self, expr: Call) -> Code:
        return code.call("String", self.expr(expr.args[0]).text)

    def _op_string_of_bool(self, expr: Call) -> Code:
        return code.call("String", self.expr(expr.args[0]).text)

    def _op_bytes_of_string(self, expr: Call) -> Code:
        return code.call(self._use("cel/text", "bytesOf"), self.expr(expr.args[0]).text)

    def _op_unique_doubles(self, expr: Call) -> Code:
        return code.call(self._use("cel/values", "unique"), self.expr(expr.args[0]).text)

    def _op_duration_in_range(self, expr: Call) -> Code:
        return code.call(self._use("cel/time", "durationInRange"), self.expr(expr.args[0]).text)

    _op_duration_of_message = _op_duration_in_range

    def _op_timestamp_part(self, expr: Call) -> Code:
        zone = expr.args[2]
        if isinstance(zone, Literal) and zone.value and ":" not in str(zone.value):
            raise Unsupported(
                "it asks for the time in a zone, whose rules every browser brings its own of",
                "use UTC or a fixed offset such as +08:00",
            )
        texts = (self.expr(arg).text for arg in expr.args)
        return code.call(self._use("cel/time", "timestampPart"), *texts, held="bigint")

    # -- macros

    def _macro(self, expr: Macro) -> Code:
        range_ = self.expr(expr.range)
        items = range_.within(code.ATOM)
        if expr.range.type.kind == "map":
            items = f"[...{items}.keys()]"
        name = self._scope.temp(expr.var.name)
        held: Held = "bigint" if expr.var.type.kind in _INTEGERS else ""
        self._locals[expr.var.slot] = Code(name, held=held)
        body = self.expr(expr.body)
        test = _arrow(name, body.text)
        if expr.kind in ("all", "exists"):
            if can_raise(expr.body):
                return code.call(self._use("cel/logic", expr.kind), items, test)
            return Code(f"{items}.{'every' if expr.kind == 'all' else 'some'}({test})")
        if expr.kind == "exists_one":
            return Code(f"{items}.filter({test}).length === 1", code.EQUALITY)
        if expr.kind == "filter":
            return Code(f"{items}.filter({test})")
        if expr.where is not None:
            items = f"{items}.filter({_arrow(name, self.expr(expr.where).text)})"
        return Code(f"{items}.map({_arrow(name, body.big)})")


def _arrow(name: str, body: str) -> str:
    """A function of one parameter, which is left out where nothing reads it."""
    is_read = re.search(rf"(?<![\w$.]){re.escape(name)}(?![\w$])", body) is not None
    return f"({name if is_read else ''}) => {body}"
