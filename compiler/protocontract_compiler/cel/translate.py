"""From the parser's tree to a typed tree, in one pass from the leaves up.

Types are found again here rather than taken from the checker: ``rules`` are constants whose type is known although the
checker sees ``dyn`` (``getField``), and protovalidate's engine compares numbers of different types, which the checker
refuses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final, TypeAlias

from google.protobuf import descriptor_pool, message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from protocontract_compiler.cel import build, macros, values
from protocontract_compiler.cel.checked import Node, Tree
from protocontract_compiler.cel.errors import CelError, Untranslatable
from protocontract_compiler.cel.format import format_call
from protocontract_compiler.cel.overloads import TIMESTAMP_PARTS
from protocontract_compiler.cel.regex import check_pattern
from protocontract_compiler.cel.values import MessageConstant
from protocontract_compiler.cel.zones import check_zone
from protocontract_compiler.ir_cel import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    FALSE,
    INT,
    NULL,
    STRING,
    TRUE,
    TYPE,
    UINT,
    Call,
    Expr,
    Has,
    ListExpr,
    Literal,
    Macro,
    MapExpr,
    Select,
    Type,
    Var,
    can_raise,
    list_of,
    map_of,
)

Binding: TypeAlias = Expr | MessageConstant

_CONSTANT_TYPES: Final = {
    "bool_value": BOOL,
    "bytes_value": BYTES,
    "double_value": DOUBLE,
    "int64_value": INT,
    "string_value": STRING,
    "uint64_value": UINT,
}
_TYPE_NAMES: Final = frozenset({"bool", "int", "uint", "double", "string", "bytes"})
_MOST_UNROLLED: Final = 64


class Translator:
    """Translates one expression. Macro variables are numbered from 1 in the order in which they are met.

    ``standard`` says that it is one of validate.proto's own, whose messages protovalidate writes natively.
    """

    def __init__(
        self,
        tree: Tree,
        variables: Mapping[str, Binding],
        pool: descriptor_pool.DescriptorPool,
        *,
        standard: bool = False,
    ) -> None:
        self._standard = standard
        self._tree = tree
        self._scope: dict[str, Binding] = dict(variables)
        self._pool = pool
        self._slots = 0

    def translate(self, this: Var) -> Expr:
        """The typed tree. Raises ``CelError`` and ``Untranslatable``."""
        self._scope["this"] = self.stored(this)
        return self._value(self._tree.expr)

    def stored(self, expr: Expr) -> Expr:
        """A value read from a message: outside standard rules a duration out of range is an error there."""
        if expr.type.kind == "duration" and not self._standard:
            return Call(expr.type, "duration_in_range", (expr,), raises=True)
        return expr

    def _value(self, node: Node) -> Expr:
        result = self._expr(node)
        if isinstance(result, MessageConstant):
            raise Untranslatable("the whole rules message as a value")
        return result

    def _expr(self, node: Node) -> Binding:
        match node.WhichOneof("kind"):
            case "const_expr":
                return self._constant(node.const_expr)
            case "ident_expr":
                return self._name(node)
            case "select_expr":
                return self._select(node)
            case "call_expr":
                return self._call(node)
            case "list_expr":
                if node.list_expr.optional_indices:
                    raise Untranslatable("optional elements")
                return build.list_display([self._value(item) for item in node.list_expr.elements])
            case "struct_expr":
                return self._struct(node.struct_expr)
            case "comprehension_expr":
                return self._comprehension(node.comprehension_expr)
            case kind:
                raise Untranslatable(f"a node of kind {kind}")

    @staticmethod
    def _constant(constant: Any) -> Expr:
        kind = constant.WhichOneof("kind")
        if kind == "null_value":
            return Literal(NULL, None)
        return Literal(_CONSTANT_TYPES[kind], getattr(constant, kind))

    # ------------------------------------------------------------------------------------------------------------------
    # Names and fields

    def _name(self, node: Node) -> Binding:
        name = node.ident_expr.name
        if name in self._scope:
            return self._scope[name]
        reference = self._tree.references.get(node.id)
        if reference is not None and reference.HasField("value"):
            return self._constant(reference.value)
        resolved = self._global(name)
        if resolved is None:
            raise Untranslatable("a name that is no variable, enum value or simple type")
        return resolved

    def _global(self, name: str) -> Expr | None:
        name = name.removeprefix(".")
        if name in _TYPE_NAMES:
            return Literal(TYPE, name)
        enum, _, value = name.rpartition(".")
        try:
            number = self._pool.FindEnumTypeByName(enum).values_by_name[value].number
        except KeyError:
            return None
        return Literal(INT, number)

    def _dotted(self, node: Node) -> str | None:
        """The dotted name that a chain of selections spells, if it starts at no variable."""
        match node.WhichOneof("kind"):
            case "ident_expr":
                return None if node.ident_expr.name in self._scope else node.ident_expr.name
            case "select_expr" if not node.select_expr.test_only:
                prefix = self._dotted(node.select_expr.operand)
                return None if prefix is None else f"{prefix}.{node.select_expr.field}"
            case _:
                return None

    def _select(self, node: Node) -> Binding:
        select = node.select_expr
        dotted = self._dotted(node)
        if dotted is not None:
            resolved = self._global(dotted)
            if resolved is not None:
                return resolved
        operand = self._expr(select.operand)
        if select.test_only:
            return self._has(operand, select.field, node)
        return self._field(operand, select.field, node)

    def _field(self, operand: Binding, name: str, node: Node) -> Binding:
        if isinstance(operand, MessageConstant):
            field = self._find(_descriptor_of(operand.message), name)
            return values.constant_of_field(operand.message, field)
        if operand.type.kind == "map" and operand.type.args[0] == STRING:
            return build.index(operand, Literal(STRING, name))
        descriptor = self._descriptor(operand)
        field = self._find(descriptor, name)
        return self.stored(Select(values.field_type(field), operand, values.field_ref(field)))

    def _has(self, operand: Binding, name: str, node: Node) -> Expr:
        if isinstance(operand, MessageConstant):
            field = self._find(_descriptor_of(operand.message), name)
            if values.is_repeated(field):
                return TRUE if len(getattr(operand.message, name)) else FALSE
            if field.has_presence:
                return TRUE if operand.message.HasField(name) else FALSE
            return TRUE if any(field.name == name for field, _ in operand.message.ListFields()) else FALSE
        if operand.type.kind == "map" and operand.type.args[0] == STRING:
            return build.member(Literal(STRING, name), operand)
        return Has(operand, values.field_ref(self._find(self._descriptor(operand), name)))

    def _descriptor(self, operand: Expr) -> Descriptor:
        if operand.type.kind != "message":
            raise Untranslatable(f"a field of {operand.type}")
        return self._pool.FindMessageTypeByName(operand.type.message)

    @staticmethod
    def _find(descriptor: Descriptor, name: str) -> FieldDescriptor:
        """A field by its name. The checker has refused every other name, except behind dyn() and getField()."""
        field = descriptor.fields_by_name.get(name)
        if field is None:
            # An error of evaluation, not of the expression: it may stand where it is never evaluated.
            raise Untranslatable(f"message {descriptor.full_name} has no field {name!r}, an error at run time")
        return field

    # ------------------------------------------------------------------------------------------------------------------
    # Calls

    def _call(self, node: Node) -> Binding:
        call = node.call_expr
        function = call.function
        nodes = [call.target, *call.args] if call.HasField("target") else list(call.args)
        if function == "getField":
            return self._get_field(nodes, node)
        args = [self._value(argument) for argument in nodes]
        if self._standard and function in ("_+_", "_-_") and args[0].type.kind == "timestamp":
            # Evaluated natively by protovalidate, where an instant has no limits: timestamp.within.
            return Call(args[0].type, "add_nanos" if function == "_+_" else "sub_nanos", tuple(args))
        match function:
            case "_&&_":
                return build.conjunction(args)
            case "_||_":
                return build.disjunction(args)
            case "!_":
                return build.negation(args[0])
            case "_?_:_":
                return build.choice(*args)
            case "@in" | "_in_":
                return build.member(*args)
            case "_[_]":
                return build.index(*args)
            case "dyn":
                return args[0]
            case "type":
                return self._type_of(args[0])
            case "size" if args[0].type.kind in ("list", "map"):
                return build.size(args[0])
            case "_+_" if args[0].type.kind == "list":
                return build.concat_lists(*args)
            case "format":
                return format_call(*args, standard=self._standard)
            case "unique":
                return self._unique(args[0])
            case "matches":
                return self._matches(args, node)
            case _ if function in build.COMPARISONS:
                return build.compare(function, *args)
            case _ if function in TIMESTAMP_PARTS and args[0].type.kind == "timestamp":
                return self._timestamp_part(function, args)
        return build.call(function, args)

    def _get_field(self, nodes: list[Node], node: Node) -> Binding:
        name = self._value(nodes[1])
        if not isinstance(name, Literal) or not isinstance(name.value, str):
            raise Untranslatable("getField() with a name that is not constant")
        found = self._field(self._expr(nodes[0]), name.value, node)
        if isinstance(found, Select) and found.type.nullable:
            # protovalidate reads an unset wrapper as null by its name, but by getField() as its default (probed).
            type_ = replace(found.type, nullable=False)
            return replace(found, type=type_, field=replace(found.field, type=type_))
        return found

    @staticmethod
    def _type_of(operand: Expr) -> Expr:
        kind = operand.type.kind
        if kind not in _TYPE_NAMES or operand.type.nullable or can_raise(operand):
            raise Untranslatable(f"the type of {operand.type}")
        return Literal(TYPE, kind)

    @staticmethod
    def _unique(operand: Expr) -> Expr:
        operand = build.strict(operand)
        if operand.type.kind != "list":
            raise Untranslatable(f"unique() of {operand.type}")
        if isinstance(operand, Literal) and not operand.value:
            return TRUE
        if operand.type.element.kind not in ("bool", "bytes", "double", "int", "string", "uint"):
            raise Untranslatable(f"unique() of {operand.type}")
        op = "unique_doubles" if operand.type.element.kind == "double" else "unique"
        return build.operation(op, BOOL, [operand], raises=False)

    def _matches(self, args: list[Expr], node: Node) -> Expr:
        text, pattern = (build.strict(arg) for arg in args)
        if text.type.kind != "string" or pattern.type.kind != "string":
            raise Untranslatable(f"matches() of {text.type} and {pattern.type}")
        if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
            raise Untranslatable("a regular expression that is not constant")
        problem = check_pattern(pattern.value)
        if problem is not None:
            line, column = self._tree.place(node)
            raise CelError(f"invalid regular expression: {problem}", line, column)
        return build.operation("matches", BOOL, [text, pattern], raises=False)

    def _timestamp_part(self, function: str, args: list[Expr]) -> Expr:
        zone = args[1] if len(args) > 1 else Literal(STRING, "")
        if not isinstance(zone, Literal) or not isinstance(zone.value, str):
            raise Untranslatable("a time zone that is not constant")
        check_zone(zone.value)
        part = Literal(STRING, TIMESTAMP_PARTS[function])
        return Call(INT, "timestamp_part", (build.strict(args[0]), part, zone))

    # ------------------------------------------------------------------------------------------------------------------
    # Displays and macros

    def _struct(self, struct: Any) -> Expr:
        if struct.message_name:
            return self._message(struct)
        entries = []
        for entry in struct.entries:
            if entry.optional_entry:
                raise Untranslatable("optional entries")
            entries.append((build.strict(self._value(entry.map_key)), self._value(entry.value)))
        if not entries:
            raise Untranslatable("an empty map display")
        keys, items = {key.type for key, _ in entries}, {item.type for _, item in entries}
        if len(keys) > 1 or len(items) > 1 or DYN in items:
            raise Untranslatable("a map display of several types")
        literals = [key.value for key, _ in entries if isinstance(key, Literal)]
        type_ = map_of(keys.pop(), items.pop())
        if len(set(literals)) == len(entries) and all(isinstance(item, Literal) for _, item in entries):
            pairs = zip(literals, (item.value for _, item in entries if isinstance(item, Literal)), strict=True)
            return Literal(type_, tuple(pairs))
        return MapExpr(type_, tuple(entries))

    def _message(self, struct: Any) -> Expr:
        """A message display of a well-known type with constant fields."""
        try:
            descriptor = self._pool.FindMessageTypeByName(struct.message_name.removeprefix("."))
        except KeyError:
            raise Untranslatable("a display of an unknown message type") from None
        if values.message_type(descriptor).kind in ("message", "dyn"):
            raise Untranslatable("a display of a message")
        message = message_factory.GetMessageClass(descriptor)()
        for entry in struct.entries:
            value = self._value(entry.value)
            if not isinstance(value, Literal) or value.type.kind == "null":
                raise Untranslatable("a display of a message with a field that is not constant")
            try:
                setattr(message, entry.field_key, value.value)
            except (TypeError, ValueError, AttributeError):
                raise Untranslatable("a display of a message with a value that its field does not take") from None
        type_ = values.message_type(descriptor)
        return Literal(type_, values.plain(message, type_))

    def _comprehension(self, node: Any) -> Expr:
        macro = macros.recognise(node)
        if macro is None:
            raise Untranslatable("a comprehension that is no standard macro")
        range_ = build.strict(self._value(macro.range))
        if range_.type.kind not in ("list", "map"):
            raise Untranslatable(f"a macro over {range_.type}")
        if macro.kind in ("all", "exists"):
            unrolled = self._unroll(macro, range_)
            if unrolled is not None:
                return unrolled
        if range_.type.element == DYN:
            raise Untranslatable("a macro over values whose types are known at run time only (dyn)")
        self._slots += 1
        variable = Var(range_.type.element, macro.variable, self._slots)
        item: Expr = variable
        if build.holds_durations(range_) and range_.type.kind == "list":
            # An error of one item must stay that item's, so they are converted one by one.
            variable = Var(Type("message", message="google.protobuf.Duration"), macro.variable, self._slots)
            item = Call(DURATION, "duration_of_message", (variable,), raises=True)
        with self._bound(macro.variable, item):
            body = self._value(macro.body)
            where = None if macro.where is None else build.boolean(self._value(macro.where))
        if macro.kind == "map":
            if body.type.nullable or body.type == DYN:
                raise Untranslatable(f"map() to {body.type}")
            return Macro(list_of(body.type), "map", variable, range_, body, where)
        result = BOOL if macro.kind != "filter" else list_of(range_.type.element)
        return Macro(result, macro.kind, variable, range_, build.boolean(body))

    def _unroll(self, macro: macros.Comprehension, range_: Expr) -> Expr | None:
        """A quantifier over a few constants is a plain conjunction or disjunction."""
        if isinstance(range_, Literal) and isinstance(range_.value, tuple) and range_.type.kind == "list":
            items: list[Expr] = [Literal(range_.type.element, item) for item in range_.value]
        elif isinstance(range_, ListExpr):
            items = list(range_.items)
            if any(can_raise(item) for item in items):
                return None
        else:
            return None
        if len(items) > _MOST_UNROLLED:
            return None
        bodies = []
        for item in items:
            with self._bound(macro.variable, item):
                bodies.append(self._value(macro.body))
        return build.conjunction(bodies) if macro.kind == "all" else build.disjunction(bodies)

    @contextmanager
    def _bound(self, name: str, binding: Binding) -> Iterator[None]:
        outer = dict(self._scope)
        self._scope[name] = binding
        try:
            yield
        finally:
            self._scope = outer


def _descriptor_of(message: Any) -> Descriptor:
    """A message's descriptor (the stubs have two classes of that name)."""
    descriptor: Descriptor = message.DESCRIPTOR
    return descriptor
