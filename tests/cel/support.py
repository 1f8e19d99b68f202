"""Dynamic schemas with rules, and both judges: protovalidate itself and the emitted code."""

from __future__ import annotations

import functools
import importlib
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import protovalidate
import re2
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from protocontract import _cel
from protocontract_compiler.cel.checks import as_check
from protocontract_compiler.cel.compiler import CelCompiler, ThisType, this_of_field, this_of_message
from protocontract_compiler.cel.values import constant_of_field
from protocontract_compiler.emit.python.cel_expr import emit, emit_condition
from protocontract_compiler.ir_cel import FieldRef, Program

_WELL_KNOWN = ("any", "descriptor", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers")
_OPTION = 1159
"""The number of the extensions (buf.validate.field) and (buf.validate.message)."""

_TYPES = {
    name.removeprefix("TYPE_").lower(): value
    for name, value in descriptor_pb2.FieldDescriptorProto.Type.items()
    if name not in ("TYPE_MESSAGE", "TYPE_ENUM", "TYPE_GROUP")
}


def _pool() -> descriptor_pool.DescriptorPool:
    pool = descriptor_pool.DescriptorPool()
    for name in _WELL_KNOWN:
        pool.AddSerializedFile(importlib.import_module(f"google.protobuf.{name}_pb2").DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(protovalidate.ViolationPb.desc().file.proto.to_binary())
    message_factory.GetMessageClassesForFiles(["buf/validate/validate.proto"], pool)
    return pool


POOL = _pool()
COMPILER = CelCompiler(POOL)
_PACKAGE = "cel_test.n"
_NUMBERS = itertools.count(1)
_DEPENDENCIES = (
    "buf/validate/validate.proto",
    *(f"google/protobuf/{name}.proto" for name in _WELL_KNOWN if name != "descriptor"),
)


def message_class(name: str) -> Any:
    """The class of a message type of the pool."""
    return message_factory.GetMessageClass(POOL.FindMessageTypeByName(name))


FieldRules: Any = message_class("buf.validate.FieldRules")
MessageRules: Any = message_class("buf.validate.MessageRules")


@dataclass
class Field:
    """A field of a test message. ``type`` is a scalar, "E", "Sub", a full message name, or "map:key:value"."""

    name: str
    type: str
    repeated: bool = False
    rules: Any = None
    optional: bool = False


def _option(options: Message, rules: Message) -> None:
    raw = rules.SerializeToString()
    size = len(raw)
    prefix = bytearray()
    for number in (_OPTION << 3 | 2, size):
        while number > 0x7F:
            prefix.append(number & 0x7F | 0x80)
            number >>= 7
        prefix.append(number)
    options.MergeFromString(bytes(prefix) + raw)


def _set_type(proto: Any, type_: str, package: str) -> None:
    if type_ in _TYPES:
        proto.type = _TYPES[type_]
    elif type_ == "E":
        proto.type, proto.type_name = 14, f".{package}.E"
    else:
        proto.type, proto.type_name = 11, f".{type_}" if "." in type_ else f".{package}.{type_}"


def schema(fields: Sequence[Field], expressions: Sequence[str] = ()) -> Any:
    """The class of a new message with these fields and message-level CEL."""
    package = f"{_PACKAGE}{next(_NUMBERS)}"
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    file.dependency.extend(_DEPENDENCIES)
    sub = file.message_type.add(name="Sub")
    sub.field.add(name="a", number=1, type=5, label=1)
    sub.field.add(name="s", number=2, type=9, label=1)
    sub.field.add(name="l", number=3, type=9, label=3)
    sub.field.add(name="t", number=4, type=11, label=1, type_name=".google.protobuf.Timestamp")
    sub.field.add(name="d", number=5, type=1, label=1)
    sub.field.add(name="o", number=6, type=5, label=1, proto3_optional=True, oneof_index=0)
    sub.oneof_decl.add(name="_o")
    enum = file.enum_type.add(name="E")
    enum.value.add(name="E_ZERO", number=0)
    enum.value.add(name="E_ONE", number=1)
    enum.value.add(name="E_MINUS", number=-1)
    message = file.message_type.add(name="M")
    for number, declared in enumerate(fields, 1):
        proto = message.field.add(name=declared.name, number=number, label=3 if declared.repeated else 1)
        if declared.type.startswith("map:"):
            _, key, value = declared.type.split(":")
            entry = message.nested_type.add(name="".join(map(str.title, declared.name.split("_"))) + "Entry")
            entry.options.map_entry = True
            _set_type(entry.field.add(name="key", number=1, label=1), key, package)
            _set_type(entry.field.add(name="value", number=2, label=1), value, package)
            proto.label, proto.type, proto.type_name = 3, 11, f".{package}.M.{entry.name}"
        else:
            _set_type(proto, declared.type, package)
        if declared.optional:
            proto.proto3_optional = True
            proto.oneof_index = len(message.oneof_decl)
            message.oneof_decl.add(name=f"_{declared.name}")
        if declared.rules is not None:
            rules = declared.rules
            _option(proto.options, text_format.Parse(rules, FieldRules()) if isinstance(rules, str) else rules)
    if expressions:
        rules = MessageRules()
        for number, expression in enumerate(expressions):
            rules.cel.add(id=f"c{number}", expression=expression)
        _option(message.options, rules)
    POOL.Add(file)
    return message_class(f"{package}.M")


# ----------------------------------------------------------------------------------------------------------------------
# The judges


Verdict = list[tuple[str, str]] | str
"""Rule ids with messages, or "error" where evaluation failed."""


def reference(message: Message) -> Verdict:
    """What protovalidate says."""
    try:
        found = _validator(_number(message) // 32).collect_violations(message)
    except protovalidate.EvaluationError:
        return "error"
    return [(violation.proto.rule_id, violation.proto.message) for violation in found]


def _number(message: Message) -> int:
    """Which of the schemas it is of."""
    return int(message.DESCRIPTOR.file.package.removeprefix(_PACKAGE))


@functools.lru_cache(maxsize=1)
def _validator(_block: int) -> protovalidate.Validator:
    """A validator for a block of schemas: one takes the longer for a new type the more of them it has met."""
    return protovalidate.Validator()


@dataclass
class TestScope:
    """The smallest ``Scope``: nothing is cached, constants are collected."""

    __test__ = False
    constants: dict[str, Any] = field(default_factory=dict)
    count: int = 0

    def read(self, base: str, message: str, field: FieldRef) -> str:
        return f"{base}.{field.name}"

    def has(self, base: str, message: str, field: FieldRef) -> str:
        if field.cardinality != "singular":
            return f"len({base}.{field.name}) != 0"
        if field.has_presence:
            return f'{base}.HasField("{field.name}")'
        if field.type.kind == "double":
            return f"_rt.cel_is_set_double({base}.{field.name})"
        return f"bool({base}.{field.name})"

    def constant(self, value_code: str, hint: str) -> str:
        name = f"_{hint}_{len(self.constants)}"
        self.constants[name] = eval(value_code, {"re": re, "re2": re2})
        return name

    def runtime(self, name: str) -> str:
        assert name in _cel.__all__, name
        return f"_rt.{name}"

    def temp(self, hint: str) -> str:
        self.count += 1
        return f"{hint}_{self.count}"


def source_of(program: Program, scope: TestScope, this: str = "this") -> str:
    """The source of a function ``rule(this, now)`` that returns the message, ``True`` for one of the rule's own."""
    lines = [f"def rule({this}, now):"]
    check = as_check(program)
    if check is None:
        emitted = emit(program, this=this, scope=scope, now="now")
        lines += [f"    {line}" for line in emitted.prelude]
        lines.append(f"    return {emitted.code} or None")
        return "\n".join(lines)
    for branch in check.branches:
        emitted = emit_condition(branch.condition, this=this, scope=scope, now="now")
        lines += [f"    {line}" for line in emitted.prelude]
        lines += [f"    if {emitted.code}:", f"        return {True if branch.message is None else branch.message!r}"]
    return "\n".join([*lines, "    return None"])


Rule = Callable[[Any, int], str | bool | None]


def function_of(program: Program) -> Rule:
    """The emitted code of a program, compiled."""
    scope = TestScope()
    text = source_of(program, scope)
    namespace: dict[str, Any] = {"_rt": _cel, **scope.constants}
    exec(text, namespace)
    rule: Rule = namespace["rule"]
    return rule


def predefined(descriptor: Any) -> list[tuple[FieldDescriptor, Any]]:
    """The fields of a rules message with the Rules that validate.proto defines them by, in order."""
    extension = POOL.FindExtensionByName("buf.validate.predefined")
    options = message_class("google.protobuf.FieldOptions")
    found = []
    for rule_field in descriptor.fields:
        parsed = options.FromString(rule_field.GetOptions().SerializeToString())
        found += [(rule_field, cel) for cel in parsed.Extensions[extension].cel]
    return found


def rules_of(rules: Any, this: ThisType) -> list[tuple[str, str, Program]]:
    """The programs of the rules that are set: rule id, own message, program."""
    programs = []
    for rule_field, cel in predefined(rules.DESCRIPTOR):
        is_set = len(getattr(rules, rule_field.name)) > 0 if rule_field.is_repeated else rules.HasField(rule_field.name)
        if is_set:
            rule = None
            if rule_field.message_type is None or rule_field.message_type.full_name != "google.protobuf.FieldMask":
                rule = constant_of_field(rules, rule_field)
            programs.append((cel.id, cel.message, COMPILER.compile(cel.expression, this=this, rules=rules, rule=rule)))
    return programs


def evaluate(rules: Iterable[tuple[str, str, Rule]], this: Any, now: int = 0) -> Verdict:
    """What the emitted code says about one value."""
    found = []
    for rule_id, own, rule in rules:
        try:
            said = rule(this, now)
        except _cel.CelRuntimeError:
            return "error"
        if said is not None and said is not False:
            found.append((rule_id, own or said if isinstance(said, str) or own else said))
    return found  # type: ignore[return-value]  # a rule without a message of its own is compared by its id


def compiled(programs: Iterable[tuple[str, str, Program]]) -> list[tuple[str, str, Rule]]:
    """Programs as functions."""
    return [(rule_id, message, function_of(program)) for rule_id, message, program in programs]


def this_value(value: Any, type_name: str) -> Any:
    """What generated code passes as ``this`` for a field's value."""
    if type_name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        return _cel.cel_nanos(value)
    return value


__all__ = [
    "COMPILER",
    "POOL",
    "Field",
    "FieldRules",
    "MessageRules",
    "Verdict",
    "compiled",
    "evaluate",
    "function_of",
    "message_class",
    "predefined",
    "reference",
    "rules_of",
    "schema",
    "source_of",
    "this_of_field",
    "this_of_message",
    "this_value",
]
