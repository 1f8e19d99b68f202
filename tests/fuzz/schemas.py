"""Random schemas: files with random messages, buf.validate rules and CEL, as descriptors.

A schema has a main file, and may have a file of shared messages in another package and one of predefined rules. Files
are proto3, proto2 (groups, closed enums, defaults) or of edition 2023 (implicit presence, delimited fields, closed
enums). Messages may hold each other and themselves.
"""

from __future__ import annotations

from random import Random
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FeatureSet,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)

from buf.validate import validate_pb2
from tests.fuzz import values
from tests.fuzz.expressions import Expressions, Known
from tests.fuzz.extensions import Predefined
from tests.fuzz.rules import Rules
from tests.fuzz.values import KEYS, SCALARS, WELL_KNOWN, WRAPPERS, T, Value

DEPENDENCIES = (any_pb2, descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2, wrappers_pb2, validate_pb2)

#: Names that Python or the emitted code uses itself. CEL's reserved words are not among them: it cannot select those.
AWKWARD = ["class", "from", "None", "is", "lambda", "def", "yield", "m", "out", "self", "now", "rules", "value",
           "count", "_x", "F1", "len", "bool", "__name", "entry", "mro", "DESCRIPTOR_"]  # fmt: skip


class Schemas:
    """Makes one random schema; equal seeds make equal schemas."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self._package = f"fuzz.s{seed}" if seed % 7 else f"fuzz.class.s{seed}"
        self._predefined = Predefined()
        self._rules = Rules(self._random, self._predefined)
        # Known parts of each finished message, relative to it: ("f1", "int").
        self._parts: dict[str, list[Known]] = {}

    def file_set(self) -> tuple[FileDescriptorSet, list[str]]:
        """The files, imported ones first, and the full names of the messages, the outermost last."""
        random = self._random
        result = FileDescriptorSet()
        for module in DEPENDENCIES:
            module.DESCRIPTOR.CopyToProto(result.file.add())
        extra: list[FileDescriptorProto] = []
        if random.random() < 0.35:
            rules = self._file("rules", "proto2", f"{self._package}.rules", [])
            self._predefined.declare(random, rules)
            extra.append(rules)
        names: list[str] = []
        if random.random() < 0.35:
            shared = _File(self, "shared", f"{self._package}.shared", extra, [])
            names += shared.fill(1)
            extra.append(shared.proto)
        main = _File(self, "main", self._package, extra, names)
        names += main.fill(random.randint(1, 3))
        result.file.extend([*extra, main.proto])
        return result, names

    def _file(self, name: str, syntax: str, package: str, imports: list[FileDescriptorProto]) -> FileDescriptorProto:
        folder = self._package.replace(".", "/")
        file = FileDescriptorProto(name=f"{folder}/{name}.proto", package=package)
        file.dependency.extend(module.DESCRIPTOR.name for module in DEPENDENCIES)
        file.dependency.extend(imported.name for imported in imports)
        if syntax != "proto2":
            file.syntax = syntax
        if syntax == "editions":
            file.edition = descriptor_pb2.EDITION_2023
        return file


class _File:
    """One file while it is made."""

    def __init__(
        self, schema: Schemas, name: str, package: str, imports: list[FileDescriptorProto], others: list[str]
    ) -> None:
        self._schema = schema
        self._random = schema._random
        self._rules = schema._rules
        self._parts = schema._parts
        self._syntax = self._random.choice(["proto3"] * 5 + ["proto2"] * 3 + ["editions"] * 3)
        self.proto = schema._file(name, self._syntax, package, imports)
        self._others = others
        self._package = package
        self._enum_is_closed = self._syntax == "proto2"
        self._enums()

    def fill(self, count: int) -> list[str]:
        """Adds messages; their full names."""
        names = [f"M{index}" for index in range(count)]
        if self._random.random() < 0.1:
            names[0] = self._random.choice(["None", "True", "Class", "Contract"])
        full = [f"{self._package}.{name}" for name in names]
        # A message may hold those before it, of other files, and now and then itself or a later one.
        for index, name in enumerate(names):
            known = [*self._others, *full[:index]]
            recursive = full[index:] if self._random.random() < 0.2 else []
            self._message(self.proto.message_type.add(name=name), full[index], known, recursive)
        return full

    def _enums(self) -> None:
        enum = self.proto.enum_type.add(name="Choice")
        numbers = [0, 1, 2, 7]
        if self._syntax == "proto2":
            self._random.shuffle(numbers)  # the first one is the default
        for number in numbers:
            enum.value.add(name=f"CHOICE_{number}", number=number)
        if self._syntax == "editions" and self._random.random() < 0.3:
            enum.options.features.enum_type = FeatureSet.CLOSED
            self._enum_is_closed = True

    # -- messages

    def _message(self, message: DescriptorProto, full: str, known: list[str], recursive: list[str]) -> None:
        random = self._random
        names = [f"f{number}" for number in range(1, random.randint(2, 6))]
        if random.random() < 0.3:
            names[0] = random.choice(AWKWARD)
        if random.random() < 0.3:
            self._add_oneof(message)  # before the oneofs that stand for `optional`
        parts: list[Known] = []
        for number, name in enumerate(names, 1):
            parts += self._field(message, full, name, number * random.choice([1, 1, 300]), known, recursive)
        in_oneof = [field for field in message.field if field.name in ("o0", "o1")]
        parts += [Known(field.name, values.cel_type(field.type)) for field in in_oneof]
        self._parts[full] = parts
        self._message_rules(message, self._through("this", parts))

    def _message_rules(self, message: DescriptorProto, known: list[Known]) -> None:
        random = self._random
        options = message.options.Extensions[validate_pb2.message]
        expressions = Expressions(random, known)
        for index in range(random.choice([0, 0, 1, 1, 2])):
            options.cel.add(id=f"m.{index}", message=random.choice(["", "no"]), expression=expressions.result())
        for _ in range(random.choice([0] * 6 + [1, 2])):
            options.cel_expression.append(expressions.result())
        if random.random() < 0.01:
            self._mistake(message, options)
        if len(message.field) > 1 and random.random() < 0.2:
            names = [field.name for field in message.field]
            fields = random.sample(names, random.randint(2, min(3, len(names))))
            options.oneof.add(fields=fields, required=random.random() < 0.5)

    def _mistake(self, message: DescriptorProto, options: Any) -> None:
        """What protovalidate refuses to compile, and we do too."""
        match self._random.randrange(4):
            case 0:
                options.cel.add(id="m", expression=self._random.choice(["1 +", "'a'.f()"]))
            case 1:
                options.oneof.add(fields=["nosuch", message.field[0].name])
            case 2:
                options.cel.add(id="m", expression="'a'.matches('(')")
            case _:
                field = next((field for field in message.field if field.type == T.TYPE_STRING), None)
                if field is not None and field.label != T.LABEL_REPEATED:
                    field.options.Extensions[validate_pb2.field].int32.gt = 1

    def _through(self, base: str, parts: list[Known]) -> list[Known]:
        """The parts of a message as expressions over ``base`` name them."""
        return [Known(f"{base}.{part.code}", part.kind) for part in parts]

    def _add_oneof(self, message: DescriptorProto) -> None:
        message.oneof_decl.add(name="choice")
        if self._random.random() < 0.5:
            message.oneof_decl[-1].options.Extensions[validate_pb2.oneof].required = True
        index = len(message.oneof_decl) - 1
        for place in range(2):
            value = values.scalar(self._random.choice(list(SCALARS)))
            field = message.field.add(name=f"o{place}", number=20 + place, label=T.LABEL_OPTIONAL, oneof_index=index)
            value.put(field)
            rules = field.options.Extensions[validate_pb2.field]
            self._rules.common(rules)
            self._rules.value(rules, value)

    # -- fields

    def _field(
        self, message: DescriptorProto, full: str, name: str, number: int, known: list[str], recursive: list[str]
    ) -> list[Known]:
        random = self._random
        if self._syntax != "proto3" and random.random() < 0.08:
            return self._group(message, full, name, number)
        value = self._value([*known, *recursive])
        shape = random.choice(["singular"] * 5 + ["repeated"] * 2 + ["map"])
        if value.type_name in {f".{name}" for name in recursive} and shape == "singular" and random.random() < 0.5:
            shape = "repeated"
        field = message.field.add(name=name, number=number, label=T.LABEL_OPTIONAL)
        rules = field.options.Extensions[validate_pb2.field]
        self._rules.common(rules)
        inside = self._parts.get(value.type_name.removeprefix("."), [])
        this = self._through("this", inside)
        if shape == "repeated":
            field.label = T.LABEL_REPEATED
            value.put(field)
            self._rules.repeated(rules, value, this)
            self._delimit(field)
            return [Known(name, f"list({value.cel})")] if value.cel != "message" else []
        if shape == "map":
            return self._map(message, full, field, rules, value, this)
        value.put(field)
        self._presence(message, field, value)
        self._delimit(field)
        self._rules.value(rules, value, this)
        if value.cel != "message":
            return [Known(name, value.cel)]
        return [Known(f"{name}.{part.code}", part.kind) for part in inside[:3]] + [Known(name, "message")]

    def _value(self, messages: list[str]) -> Value:
        random = self._random
        roll = random.random()
        if messages and roll < 0.25:
            return values.message(f".{random.choice(messages)}")
        if roll < 0.33:
            return values.enum(f".{self._package}.Choice")
        if roll < 0.42:
            return values.wrapper(random.choice(list(WRAPPERS)))
        if roll < 0.56:
            return values.well_known(random.choice(list(WELL_KNOWN)))
        return values.scalar(random.choice(list(SCALARS)))

    def _presence(self, message: DescriptorProto, field: FieldDescriptorProto, value: Value) -> None:
        """Explicit presence, or none; defaults in proto2 and editions."""
        random = self._random
        singular_scalar = value.type in SCALARS or value.type == T.TYPE_ENUM
        if not singular_scalar:
            return
        if self._syntax == "proto3":
            if random.random() < 0.25:
                field.proto3_optional = True
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{field.name}")
            return
        closed = value.type == T.TYPE_ENUM and self._enum_is_closed
        if self._syntax == "editions" and random.random() < 0.4 and not closed:
            field.options.features.field_presence = FeatureSet.IMPLICIT
            return
        if random.random() < 0.25 and value.rules in ("string", "int32", "bool", "double", "uint64"):
            field.default_value = {
                "string": "PERSON", "int32": "-7", "bool": "true", "double": "1.5", "uint64": "5",
            }[value.rules]  # fmt: skip

    def _delimit(self, field: FieldDescriptorProto) -> None:
        if self._syntax == "editions" and field.type == T.TYPE_MESSAGE and self._random.random() < 0.3:
            field.options.features.message_encoding = FeatureSet.DELIMITED

    def _group(self, message: DescriptorProto, full: str, name: str, number: int) -> list[Known]:
        """A group of proto2, or the delimited field that stands for one in editions."""
        group_name = f"G{number}"
        group = message.nested_type.add(name=group_name)
        inner: list[Known] = []
        for place in range(1, self._random.randint(2, 4)):
            value = values.scalar(self._random.choice(list(SCALARS)))
            field = group.field.add(name=f"g{place}", number=place, label=T.LABEL_OPTIONAL)
            value.put(field)
            rules = field.options.Extensions[validate_pb2.field]
            self._rules.common(rules)
            self._rules.value(rules, value)
            inner.append(Known(field.name, value.cel))
        self._message_rules(group, self._through("this", inner))
        repeated = self._random.random() < 0.3
        label = T.LABEL_REPEATED if repeated else T.LABEL_OPTIONAL
        holder = message.field.add(
            name=group_name.lower(), number=number, type_name=f".{full}.{group_name}", label=label
        )
        del name
        if self._syntax == "proto2":
            holder.type = T.TYPE_GROUP
        else:
            holder.type = T.TYPE_MESSAGE
            holder.options.features.message_encoding = FeatureSet.DELIMITED
        if self._random.random() < 0.3:
            holder.options.Extensions[validate_pb2.field].required = True
        return [] if repeated else [Known(f"{holder.name}.{part.code}", part.kind) for part in inner]

    def _map(
        self, message: DescriptorProto, full: str, field: FieldDescriptorProto, rules: Any, value: Value,
        this: list[Known],
    ) -> list[Known]:  # fmt: skip
        random = self._random
        words = "".join(part[:1].upper() + part[1:] for part in field.name.split("_"))
        entry = message.nested_type.add(name=f"{words}Entry")
        entry.options.map_entry = True
        key = values.scalar(random.choice(KEYS))
        key.put(entry.field.add(name="key", number=1, label=T.LABEL_OPTIONAL))
        if value.type == T.TYPE_ENUM and self.proto.enum_type[0].value[0].number != 0:
            value = values.scalar(T.TYPE_INT32)  # the first value of a map's enum must be zero
        value.put(entry.field.add(name="value", number=2, label=T.LABEL_OPTIONAL))
        field.label, field.type = T.LABEL_REPEATED, T.TYPE_MESSAGE
        field.type_name = f".{full}.{entry.name}"
        self._rules.map(rules, key, value, this)
        return [Known(field.name, f"map({key.cel},{value.cel})")] if value.type in SCALARS else []


__all__ = ["DEPENDENCIES", "Schemas"]
