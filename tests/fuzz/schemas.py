"""Random schemas: messages with random buf.validate rules and random CEL, as descriptors of a file of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from buf.validate import validate_pb2
from google.protobuf import any_pb2, descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet

from tests.fuzz.expressions import Expressions, Known
from tests.support.messages import BYTES, DOUBLES, FLOATS, INT32, INT64, STRINGS

T = FieldDescriptorProto

SCALARS: dict[int, tuple[str, Sequence[Any]]] = {
    T.TYPE_DOUBLE: ("double", DOUBLES),
    T.TYPE_FLOAT: ("float", FLOATS),
    T.TYPE_INT64: ("int64", INT64),
    T.TYPE_UINT64: ("uint64", [abs(number) for number in INT64]),
    T.TYPE_INT32: ("int32", INT32),
    T.TYPE_FIXED64: ("fixed64", [abs(number) for number in INT64]),
    T.TYPE_FIXED32: ("fixed32", [abs(number) for number in INT32]),
    T.TYPE_BOOL: ("bool", [False, True]),
    T.TYPE_STRING: ("string", STRINGS),
    T.TYPE_BYTES: ("bytes", BYTES),
    T.TYPE_UINT32: ("uint32", [abs(number) for number in INT32]),
    T.TYPE_SFIXED32: ("sfixed32", INT32),
    T.TYPE_SFIXED64: ("sfixed64", INT64),
    T.TYPE_SINT32: ("sint32", INT32),
    T.TYPE_SINT64: ("sint64", INT64),
}
KEYS = [kind for kind in SCALARS if kind not in (T.TYPE_DOUBLE, T.TYPE_FLOAT, T.TYPE_BYTES)]
WRAPPERS = {
    "DoubleValue": T.TYPE_DOUBLE, "FloatValue": T.TYPE_FLOAT, "Int64Value": T.TYPE_INT64, "UInt64Value": T.TYPE_UINT64,
    "Int32Value": T.TYPE_INT32, "UInt32Value": T.TYPE_UINT32, "BoolValue": T.TYPE_BOOL, "StringValue": T.TYPE_STRING,
    "BytesValue": T.TYPE_BYTES,
}  # fmt: skip
PATTERNS = ["^[a-z]+$", "a|b", "^$", "x{2,5}", "(?i)person", "[^a]", "\\d+\\.\\d+", "^.{1,5}$", "日+", "^\\S*$"]
FORMATS = [
    "email", "hostname", "ip", "ipv4", "ipv6", "uri", "uri_ref", "address", "uuid", "tuuid", "ip_with_prefixlen",
    "ipv4_with_prefixlen", "ipv6_with_prefixlen", "ip_prefix", "ipv4_prefix", "ipv6_prefix", "host_and_port",
]  # fmt: skip
DEPENDENCIES = (any_pb2, descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2, wrappers_pb2, validate_pb2)


class Schemas:
    """Makes random files; equal seeds make equal files."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311
        self._seed = seed

    def file_set(self) -> tuple[FileDescriptorSet, list[str]]:
        """A file with its imports, and the full names of its messages, the outermost last."""
        file = FileDescriptorProto(
            name=f"fuzz/f{self._seed}.proto",
            package=f"fuzz.f{self._seed}",
            syntax="proto3",
            dependency=[module.DESCRIPTOR.name for module in DEPENDENCIES],
        )
        enum = file.enum_type.add(name="Choice")
        for name, number in (("CHOICE_UNSPECIFIED", 0), ("CHOICE_ONE", 1), ("CHOICE_TWO", 2), ("CHOICE_SEVEN", 7)):
            enum.value.add(name=name, number=number)
        names: list[str] = []
        for index in range(self._random.randint(1, 3)):
            message = file.message_type.add(name=f"M{index}")
            self._message(message, file.package, [f".{name}" for name in names])
            names.append(f"{file.package}.{message.name}")
        result = FileDescriptorSet()
        for module in DEPENDENCIES:
            module.DESCRIPTOR.CopyToProto(result.file.add())
        result.file.append(file)
        return result, names

    # -- messages

    def _message(self, message: DescriptorProto, package: str, others: list[str]) -> None:
        random = self._random
        known: list[Known] = []
        if random.random() < 0.3:
            self._add_oneof(message)  # before the oneofs that stand for `optional`
        for number in range(1, random.randint(2, 6)):
            known.append(self._field(message, f"f{number}", number, package, others))
        plain = [field for field in message.field if not field.HasField("oneof_index")]
        options = message.options.Extensions[validate_pb2.message]
        expressions = Expressions(random, known)
        for index in range(random.choice([0, 0, 1, 1, 2])):
            options.cel.add(id=f"m.{index}", message=random.choice(["", "no"]), expression=expressions.result())
        if random.random() < 0.15:
            options.cel_expression.append(expressions.boolean())
        if len(plain) > 1 and random.random() < 0.2:
            fields = random.sample([field.name for field in plain], 2)
            options.oneof.add(fields=fields, required=random.random() < 0.5)

    def _add_oneof(self, message: DescriptorProto) -> None:
        message.oneof_decl.add(name="choice")
        if self._random.random() < 0.5:
            message.oneof_decl[-1].options.Extensions[validate_pb2.oneof].required = True
        index = len(message.oneof_decl) - 1
        for place in range(2):
            kind = self._random.choice(list(SCALARS))
            field = message.field.add(
                name=f"o{place}", number=20 + place, type=kind, label=T.LABEL_OPTIONAL, oneof_index=index
            )
            self._scalar_rules(field.options.Extensions[validate_pb2.field], kind, Known("this", _cel(kind)))

    def _field(self, message: DescriptorProto, name: str, number: int, package: str, others: list[str]) -> Known:
        random = self._random
        shape = random.choice(["scalar"] * 5 + ["optional", "enum", "repeated", "repeated", "map", "wrapper", "known"]
                              + ["message"] * (2 if others else 0))  # fmt: skip
        field = message.field.add(name=name, number=number, label=T.LABEL_OPTIONAL)
        rules = field.options.Extensions[validate_pb2.field]
        self._common(rules)
        if shape in ("scalar", "optional"):
            field.type = random.choice(list(SCALARS))
            if shape == "optional":
                field.proto3_optional = True
                field.oneof_index = len(message.oneof_decl)
                message.oneof_decl.add(name=f"_{name}")
            known = Known(f"this.{name}", _cel(field.type))
            self._scalar_rules(rules, field.type, known)
            return known
        if shape == "enum":
            field.type, field.type_name = T.TYPE_ENUM, f".{package}.Choice"
            self._enum_rules(rules.enum)
            return Known(f"this.{name}", "int")
        if shape == "repeated":
            field.label, field.type = T.LABEL_REPEATED, random.choice(list(SCALARS))
            self._repeated_rules(rules, field.type)
            return Known(f"this.{name}", f"list({_cel(field.type)})")
        if shape == "map":
            return self._map(message, field, rules, package)
        field.type = T.TYPE_MESSAGE
        if shape == "wrapper":
            wrapper = random.choice(list(WRAPPERS))
            field.type_name = f".google.protobuf.{wrapper}"
            self._scalar_rules(rules, WRAPPERS[wrapper], Known("this", _cel(WRAPPERS[wrapper])))
        elif shape == "known":
            self._well_known(field, rules)
        else:
            field.type_name = random.choice(others)
            if random.random() < 0.4:
                field.label = T.LABEL_REPEATED
                if random.random() < 0.5:
                    rules.repeated.max_items = random.randint(0, 3)
            elif random.random() < 0.5:
                rules.required = True
        return Known(f"this.{name}", "message")

    def _map(self, message: DescriptorProto, field: FieldDescriptorProto, rules: Any, package: str) -> Known:
        random = self._random
        entry = message.nested_type.add(name=f"{field.name.capitalize()}Entry")
        entry.options.map_entry = True
        key, value = random.choice(KEYS), random.choice(list(SCALARS))
        entry.field.add(name="key", number=1, type=key, label=T.LABEL_OPTIONAL)
        entry.field.add(name="value", number=2, type=value, label=T.LABEL_OPTIONAL)
        field.label, field.type = T.LABEL_REPEATED, T.TYPE_MESSAGE
        field.type_name = f".{package}.{message.name}.{entry.name}"
        if random.random() < 0.4:
            rules.map.min_pairs = random.randint(0, 2)
        if random.random() < 0.3:
            rules.map.max_pairs = random.randint(0, 3)
        if random.random() < 0.6:
            self._scalar_rules(rules.map.keys, key, Known("this", _cel(key)))
        if random.random() < 0.6:
            self._scalar_rules(rules.map.values, value, Known("this", _cel(value)))
        return Known(f"this.{field.name}", f"map({_cel(key)},{_cel(value)})")

    # -- rules

    def _common(self, rules: Any) -> None:
        roll = self._random.random()
        if roll < 0.12:
            rules.required = True
        elif roll < 0.2:
            rules.ignore = self._random.choice([1, 3])

    def _scalar_rules(self, rules: Any, kind: int, known: Known) -> None:
        random = self._random
        if random.random() < 0.15:
            expressions = Expressions(random, [Known("this", known.kind)])
            rules.cel.add(id="c", message=random.choice(["", "no"]), expression=expressions.result())
        if random.random() < 0.25:
            return
        name, pool = SCALARS[kind]
        part = getattr(rules, name)
        makers: dict[str, Callable[[Any], None]] = {
            "string": self._string_rules,
            "bytes": self._bytes_rules,
            "bool": self._bool_rules,
        }
        makers.get(name, lambda part: self._number_rules(part, pool))(part)

    def _number_rules(self, part: Any, pool: Sequence[Any]) -> None:
        random = self._random
        usable = [value for value in pool if value == value]
        roll = random.random()
        if roll < 0.15:
            part.const = random.choice(usable)
        elif roll < 0.4:
            getattr(part, random.choice(["in", "not_in"])).extend(random.sample(usable, random.randint(1, 3)))
        else:
            if random.random() < 0.7:
                setattr(part, random.choice(["gt", "gte"]), random.choice(usable))
            if random.random() < 0.7:
                setattr(part, random.choice(["lt", "lte"]), random.choice(usable))
            if "finite" in part.DESCRIPTOR.fields_by_name and random.random() < 0.3:
                part.finite = True

    def _string_rules(self, part: Any) -> None:
        random = self._random
        for name in random.sample(
            ["len", "min_len", "max_len", "len_bytes", "min_bytes", "max_bytes", "prefix", "suffix", "contains",
             "not_contains", "pattern", "in", "not_in", "const", "format"], random.randint(1, 3),
        ):  # fmt: skip
            if name == "format":
                setattr(part, random.choice(FORMATS), random.random() < 0.9)
            elif name in ("in", "not_in"):
                getattr(part, name).extend(random.sample(STRINGS, 2))
            elif name == "pattern":
                part.pattern = random.choice(PATTERNS)
            elif name in ("prefix", "suffix", "contains", "not_contains", "const"):
                setattr(part, name, random.choice(STRINGS)[:3])
            else:
                setattr(part, name, random.choice([0, 1, 2, 3, 19, 36, 512]))

    def _bytes_rules(self, part: Any) -> None:
        random = self._random
        for name in random.sample(
            ["len", "min_len", "max_len", "prefix", "suffix", "contains", "in", "const", "format"], 2
        ):
            if name == "format":
                setattr(part, random.choice(["ip", "ipv4", "ipv6"]), True)
            elif name == "in":
                getattr(part, name).extend(random.sample(BYTES, 2))
            elif name in ("prefix", "suffix", "contains", "const"):
                setattr(part, name, random.choice(BYTES)[:2])
            else:
                setattr(part, name, random.choice([0, 1, 2, 4, 16]))

    def _bool_rules(self, part: Any) -> None:
        part.const = self._random.random() < 0.5

    def _enum_rules(self, part: Any) -> None:
        random = self._random
        if random.random() < 0.5:
            part.defined_only = True
        if random.random() < 0.5:
            getattr(part, random.choice(["in", "not_in"])).extend(random.sample([0, 1, 2, 7, 99], 2))
        if random.random() < 0.2:
            part.const = random.choice([0, 1, 99])

    def _repeated_rules(self, rules: Any, kind: int) -> None:
        random = self._random
        if random.random() < 0.4:
            rules.repeated.min_items = random.randint(0, 2)
        if random.random() < 0.3:
            rules.repeated.max_items = random.randint(0, 4)
        if random.random() < 0.3:
            rules.repeated.unique = True
        if random.random() < 0.7:
            self._scalar_rules(rules.repeated.items, kind, Known("this", _cel(kind)))
            if random.random() < 0.2:
                rules.repeated.items.ignore = random.choice([1, 3])
        if random.random() < 0.2:
            expressions = Expressions(random, [Known("this", f"list({_cel(kind)})")])
            rules.cel.add(id="l", message="no", expression=expressions.result())

    def _well_known(self, field: FieldDescriptorProto, rules: Any) -> None:
        random = self._random
        kind = random.choice(["Timestamp", "Duration", "Any", "FieldMask"])
        field.type_name = f".google.protobuf.{kind}"
        if kind == "Any":
            urls = ["type.googleapis.com/google.protobuf.Duration", "type.googleapis.com/x.Y"]
            getattr(rules.any, random.choice(["in", "not_in"])).extend(random.sample(urls, random.randint(1, 2)))
        elif kind == "FieldMask":
            getattr(rules.field_mask, random.choice(["in", "not_in"])).extend(random.sample(["a", "a.b", "c"], 2))
        else:
            part = rules.timestamp if kind == "Timestamp" else rules.duration
            for name in random.sample([["gt", "gte"], ["lt", "lte"]], random.randint(1, 2)):
                target = getattr(part, random.choice(name))
                target.seconds = random.choice([0, 1, -1, 1577836800])
                target.nanos = random.choice([0, 1, 999999999])


def _cel(kind: int) -> str:
    name = SCALARS[kind][0]
    if name in ("string", "bytes", "bool"):
        return name
    if name in ("double", "float"):
        return "double"
    return "uint" if name.startswith(("u", "fixed")) else "int"
