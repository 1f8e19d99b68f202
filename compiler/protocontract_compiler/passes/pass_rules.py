"""Lowers buf.validate: options become checks, each with its compiled CEL, in the order in which they are evaluated.

validate.proto defines its standard rules by CEL of its own, in the option ``(buf.validate.predefined).cel`` of each
rule field. That CEL is what is compiled here, with ``rules`` and ``rule`` bound to the constants of the contract: no
rule is written down a second time. What protovalidate's engine decides without CEL is native here too: required,
ignore, enum.defined_only, any.in, any.not_in, items, keys, values, and the oneofs.

Order (probed against protovalidate 2.1): of a message cel_expression, cel, message.oneof, oneof.required; of a value
cel_expression, cel, standard rules as the rules message declares them (native ones in their places), then predefined
rules by extension number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from protocontract_compiler import ir
from protocontract_compiler.cel.checks import as_check
from protocontract_compiler.cel.compiler import (
    CelCompiler,
    CelError,
    Constant,
    ThisType,
    Untranslatable,
    constant_of_field,
    this_of_field,
    this_of_message,
)
from protocontract_compiler.descriptors import Loaded, Places
from protocontract_compiler.diagnostics import Diagnostics

Element: TypeAlias = Literal["field", "item", "key", "value"]

_IGNORES: dict[int, ir.Ignore] = {0: "unspecified", 1: "if_zero_value", 3: "always"}

_PARTS: tuple[tuple[str, Element], ...] = (("items", "item"), ("keys", "key"), ("values", "value"))

# Which member of FieldRules.type fits which scalar type of a field; messages are told by their names.
_RULES_OF_TYPE = {
    ir.TYPE_DOUBLE: "double", ir.TYPE_FLOAT: "float", ir.TYPE_INT64: "int64", ir.TYPE_UINT64: "uint64",
    ir.TYPE_INT32: "int32", ir.TYPE_FIXED64: "fixed64", ir.TYPE_FIXED32: "fixed32", ir.TYPE_BOOL: "bool",
    ir.TYPE_STRING: "string", ir.TYPE_BYTES: "bytes", ir.TYPE_UINT32: "uint32", ir.TYPE_ENUM: "enum",
    ir.TYPE_SFIXED32: "sfixed32", ir.TYPE_SFIXED64: "sfixed64", ir.TYPE_SINT32: "sint32", ir.TYPE_SINT64: "sint64",
}  # fmt: skip
_RULES_OF_MESSAGE = {
    "google.protobuf.Any": "any",
    "google.protobuf.Duration": "duration",
    "google.protobuf.Timestamp": "timestamp",
    "google.protobuf.FieldMask": "field_mask",
    **{name: name.removeprefix("google.protobuf.").removesuffix("Value").lower() for name in ir.WRAPPERS},
}

_STEP = re.compile(r"([^.\[]+)(?:\[(\d+)\])?")

_NATIVE_MESSAGES = {
    "enum_defined_only": "value must be one of the defined enum values",
    "any_in": "type URL must be in the allow list",
    "any_not_in": "type URL must not be in the block list",
}


def lower(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics, *, strict: bool = False) -> ir.Schema:
    """The schema with the buf.validate rules of every message.

    ``strict`` makes a rule that cannot be translated exactly an error; otherwise its message is delegated to
    protovalidate. Mistakes go to ``diagnostics``.
    """
    lowering = Lowering(loaded, schema, diagnostics, strict)
    return replace(schema, messages={name: lowering.message(message) for name, message in schema.messages.items()})


@dataclass(frozen=True, slots=True)
class _Source:
    """One rule before it is compiled: CEL text and what a violation of it says.

    ``standard``: a rule of validate.proto's own, which protovalidate evaluates natively.
    """

    rule_id: str
    message: str
    expression: str
    standard: bool = False


@dataclass(frozen=True, slots=True)
class _Where:
    """Finds the places of rules in the source, by their rule paths."""

    places: Places
    descriptor: Descriptor | FieldDescriptor
    option: str

    @property
    def is_message(self) -> bool:
        """Whether the rules are those of a whole message."""
        return isinstance(self.descriptor, Descriptor)

    def of(self, rule_path: str) -> ir.Place:
        """The place of ``repeated.items.string.min_len`` or ``cel[1]``."""
        steps: list[str | int] = []
        for name, index in _STEP.findall(rule_path):
            steps.append(name)
            if index:
                steps.append(int(index))
        return self.places.option(self.descriptor, self.option, *steps)


class Lowering:
    """Lowers the messages of one schema, one at a time; compiled CEL is kept between them."""

    def __init__(
        self,
        loaded: Loaded,
        schema: ir.Schema,
        diagnostics: Diagnostics,
        strict: bool,
        cel: CelCompiler | None = None,
    ) -> None:
        """``cel`` is the compiler of another lowering of the same schema, for what it has compiled already."""
        self._loaded = loaded
        self._options = loaded.options
        self._schema = schema
        self._diagnostics = diagnostics
        self._strict = strict
        self._cel = CelCompiler(loaded.pool) if cel is None else cel
        self._delegated: str | None = None

    # -- messages

    def message(self, message: ir.Message) -> ir.Message:
        """The message with its rules; mistakes go to the diagnostics."""
        descriptor = self._loaded.pool.FindMessageTypeByName(message.full_name)
        self._delegated = None
        rules, members = self._message_rules(descriptor, message)
        fields = tuple(
            replace(field, rules=self._field_rules(descriptor.fields_by_name[field.name], field, members))
            for field in message.fields
        )
        oneofs = tuple(
            replace(oneof, required=self._oneof_required(descriptor, oneof.name)) for oneof in message.oneofs
        )
        return replace(message, rules=rules, fields=fields, oneofs=oneofs, delegated=self._delegated)

    def _message_rules(self, descriptor: Descriptor, message: ir.Message) -> tuple[ir.MessageRules, frozenset[str]]:
        options = self._options.message_rules(descriptor)
        if options is None:
            return ir.MessageRules(), frozenset()
        where = _Where(self._loaded.places, descriptor, "buf.validate.message")
        source: Any = options
        checks = tuple(self._custom_checks(options, this_of_message(descriptor), "", where))
        oneofs: list[ir.OneofRule] = []
        for index, rule in enumerate(source.oneof):
            place = where.of(f"oneof[{index}]")
            oneofs.append(ir.OneofRule(tuple(rule.fields), rule.required, place))
            self._check_oneof_fields(message, tuple(rule.fields), place)
        members = frozenset(name for rule in oneofs for name in rule.fields)
        return ir.MessageRules(checks, tuple(oneofs)), members

    def _check_oneof_fields(self, message: ir.Message, names: tuple[str, ...], place: ir.Place) -> None:
        known = {field.name for field in message.fields}
        if not names:
            self._diagnostics.error("rule-oneof", place, "a oneof rule names no fields; expected at least one")
        for name in names:
            if name not in known:
                self._diagnostics.error("rule-oneof", place, f"`{name}` is not a field of {message.full_name}")
        if len(set(names)) != len(names):
            self._diagnostics.error("rule-oneof", place, "a oneof rule names a field twice; expected each once")

    def _oneof_required(self, descriptor: Descriptor, name: str) -> bool:
        options: Any = self._options.oneof_rules(descriptor.oneofs_by_name[name])
        return options is not None and bool(options.required)

    # -- fields

    def _field_rules(
        self, descriptor: FieldDescriptor, field: ir.Field, members: frozenset[str]
    ) -> ir.ValueRules | None:
        options = self._options.field_rules(descriptor)
        # A member of message.oneof is checked only where it is set (validate.proto, MessageOneofRule).
        implied: ir.Ignore = "if_zero_value" if field.name in members else "unspecified"
        if options is None:
            return ir.ValueRules(ignore=implied, place=field.place) if implied != "unspecified" else None
        where = _Where(self._loaded.places, descriptor, "buf.validate.field")
        rules = self._value_rules(options, descriptor, field, "field", "", where)
        if not options.HasField("ignore"):
            rules = replace(rules, ignore=implied)
        return rules

    def _value_rules(
        self, source: Any, descriptor: FieldDescriptor, field: ir.Field, element: Element, prefix: str,
        where: _Where,
    ) -> ir.ValueRules:  # fmt: skip
        this = this_of_field(descriptor, element)
        ignore = _IGNORES.get(source.ignore, "unspecified")
        place = where.of(f"{prefix}required" if source.required else prefix.removesuffix("."))
        checks = list(self._custom_checks(source, this, prefix, where))
        member = source.WhichOneof("type")
        nested: dict[str, ir.ValueRules] = {}
        if member is not None:
            expected = _expected_member(field, element)
            if member != expected:
                self._wrong_type(field, element, member, expected, where.of(f"{prefix}{member}"))
                return ir.ValueRules(source.required, ignore, place=place, rule_prefix=prefix)
            rules = getattr(source, member)
            path = f"{prefix}{member}"
            checks.extend(self._standard_checks(rules, this, field, element, path, where))
            for name, part in _PARTS:
                if name in rules.DESCRIPTOR.fields_by_name and rules.HasField(name):
                    nested[name] = self._value_rules(
                        getattr(rules, name),
                        descriptor,
                        field,
                        part,
                        f"{path}.{name}.",
                        where,
                    )
        return ir.ValueRules(
            required=bool(source.required),
            ignore=ignore,
            checks=tuple(checks),
            items=nested.get("items"),
            keys=nested.get("keys"),
            values=nested.get("values"),
            rule_prefix=prefix,
            place=place,
        )

    def _wrong_type(
        self, field: ir.Field, element: Element, member: str, expected: str | None, place: ir.Place
    ) -> None:
        what = "field" if element == "field" else element
        wanted = f"expected `{expected}`" if expected else "expected cel or cel_expression"
        self._diagnostics.error(
            "rule-type", place, f"`{member}` rules do not fit this {what} (`{field.name}`); {wanted}, got `{member}`"
        )

    # -- checks

    def _custom_checks(self, options: Message, this: ThisType, prefix: str, where: _Where) -> Iterator[ir.Check]:
        """The contract's own CEL: cel_expression first, then cel. A rule of a message has no rule path."""
        source: Any = options
        rules = [
            *(
                (f"cel_expression[{index}]", _Source(text, "", text))
                for index, text in enumerate(source.cel_expression)
            ),
            *((f"cel[{index}]", _Source(cel.id, cel.message, cel.expression)) for index, cel in enumerate(source.cel)),
        ]
        for name, rule in rules:
            path = f"{prefix}{name}"
            for check in self._compiled(rule, this, where.of(path), None, None):
                yield check if where.is_message else replace(check, rule_path=path)

    def _native_check(
        self, rules: Any, rule: str, field: ir.Field, element: Element, rule_path: str, place: ir.Place
    ) -> ir.Check | None:
        """The check of a rule that has no CEL in validate.proto, because protovalidate's engine decides it."""
        match rules.DESCRIPTOR.name, rule:
            case "EnumRules", "defined_only" if rules.defined_only:
                enum = self._schema.enums[str(_element_field(field, element).enum)]
                numbers = tuple(sorted({value.number for value in enum.values}))
                return _native("enum_defined_only", "enum.defined_only", rule_path, numbers, place)
            case "AnyRules", "in":
                return _native("any_in", "any.in", rule_path, tuple(getattr(rules, "in")), place)
            case "AnyRules", "not_in":
                return _native("any_not_in", "any.not_in", rule_path, tuple(rules.not_in), place)
        return None

    def _standard_checks(
        self, rules: Message, this: ThisType, field: ir.Field, element: Element, path: str, where: _Where
    ) -> Iterator[ir.Check]:
        """The rules of a rules message that are set, as declared; then predefined ones by extension number."""
        listed: dict[int, Any] = {field.number: field for field, _ in rules.ListFields()}
        declared: list[Any] = [field for field in rules.DESCRIPTOR.fields if field.number in listed]
        extensions = sorted((field for field in listed.values() if field.is_extension), key=lambda field: field.number)
        for known in [*declared, *extensions]:
            rule_path = path if known.is_extension else f"{path}.{known.name}"
            native = self._native_check(rules, known.name, field, element, rule_path, where.of(rule_path))
            if native is not None:
                yield native
            predefined: Any = self._options.predefined(known)
            if predefined is None:
                continue
            try:
                value = constant_of_field(rules, known)
            except Untranslatable:
                value = None  # a message, which validate.proto's CEL reads through `rules`, field by field
            extension = ir.PathElement(known.number, f"[{known.full_name}]", known.type) if known.is_extension else None
            for cel in predefined.cel:
                rule = _Source(cel.id, cel.message, cel.expression, standard=not known.is_extension)
                for check in self._compiled(rule, this, where.of(rule_path), rules, value):
                    yield replace(check, rule_path=rule_path, extension=extension)

    def _compiled(
        self, rule: _Source, this: ThisType, place: ir.Place, rules: Message | None, value: Constant | None
    ) -> Iterator[ir.Check]:
        try:
            program = self._cel.compile(rule.expression, this=this, rules=rules, rule=value, standard=rule.standard)
        except CelError as error:
            if rules is not None and rule.rule_id in ("string.pattern", "bytes.pattern"):
                return  # check_contradictions tells RE2's reason, without the CEL around it
            name = f"rule `{rule.rule_id}`" if rule.rule_id else "rule"
            self._diagnostics.error(
                "cel", place, f"{name}: {error.message} (line {error.line}, column {error.column} of the expression)"
            )
            return
        except Untranslatable as reason:
            name = rule.rule_id or rule.expression
            if self._strict:
                self._diagnostics.error(
                    "cel-untranslatable", place,
                    f"rule `{name}` cannot be compiled exactly: {reason.reason}; expected CEL that can",
                    hint="leave out `strict` to delegate this message to protovalidate",
                )  # fmt: skip
            self._delegated = self._delegated or f"{name}: {reason.reason}"
            return
        reduced = as_check(program)
        if reduced is not None and not reduced.branches:
            return  # holds for every value
        message = rule.message or (f'"{rule.expression}" returned false' if program.result == "bool" else "")
        yield ir.Check(
            rule_id=rule.rule_id,
            message=message,
            rule_path="",
            program=program,
            source=rule.expression,
            place=place,
        )


def _native(
    kind: Literal["enum_defined_only", "any_in", "any_not_in"], rule_id: str, path: str,
    values: tuple[int | str, ...], place: ir.Place,
) -> ir.Check:  # fmt: skip
    return ir.Check(rule_id, _NATIVE_MESSAGES[kind], path, native=kind, values=values, place=place)


def _element_field(field: ir.Field, element: Element) -> ir.Field:
    """The field whose type the rules are about: the entry's key or value of a map, else the field itself."""
    if element == "key" and field.key is not None:
        return field.key
    if element == "value" and field.value is not None:
        return field.value
    return field


def _expected_member(field: ir.Field, element: Element) -> str | None:
    """The member of FieldRules.type that fits; None where only CEL does."""
    if element == "field" and field.shape is not ir.Shape.SINGULAR:
        return str(field.shape.value)
    part = _element_field(field, element)
    if part.message is not None:
        return _RULES_OF_MESSAGE.get(part.message)
    return _RULES_OF_TYPE.get(part.type)
