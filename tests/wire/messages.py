"""Message types for the wire tests: every kind of field, in a private pool, from descriptors written here."""

from __future__ import annotations

from typing import Any

from google.protobuf import (
    any_pb2,
    descriptor_pb2,
    duration_pb2,
    field_mask_pb2,
    message_factory,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message

F = descriptor_pb2.FieldDescriptorProto

SCALARS = (
    "double",
    "float",
    "int64",
    "uint64",
    "int32",
    "fixed64",
    "fixed32",
    "bool",
    "string",
    "bytes",
    "uint32",
    "sfixed32",
    "sfixed64",
    "sint32",
    "sint64",
)
MESSAGES = {
    "timestamp": ".google.protobuf.Timestamp",
    "duration": ".google.protobuf.Duration",
    "mask": ".google.protobuf.FieldMask",
    "struct": ".google.protobuf.Struct",
    "value": ".google.protobuf.Value",
    "list": ".google.protobuf.ListValue",
    "any": ".google.protobuf.Any",
    "int64_value": ".google.protobuf.Int64Value",
    "bool_value": ".google.protobuf.BoolValue",
    "string_value": ".google.protobuf.StringValue",
    "bytes_value": ".google.protobuf.BytesValue",
    "double_value": ".google.protobuf.DoubleValue",
    "child": ".wire.All",
}
_IMPORTS = (any_pb2, duration_pb2, field_mask_pb2, struct_pb2, timestamp_pb2, wrappers_pb2)


def _all() -> descriptor_pb2.DescriptorProto:
    message = descriptor_pb2.DescriptorProto(name="All")
    number = 0

    def add(name: str, kind: int, type_name: str = "", label: int = F.LABEL_OPTIONAL) -> Any:
        nonlocal number
        number += 1
        return message.field.add(name=name, number=number, type=kind, type_name=type_name or None, label=label)

    for scalar in SCALARS:
        add(f"{scalar}_field", F.Type.Value(f"TYPE_{scalar.upper()}"))
        add(f"many_{scalar}", F.Type.Value(f"TYPE_{scalar.upper()}"), label=F.LABEL_REPEATED)
    for name, type_name in MESSAGES.items():
        add(f"{name}_field", F.TYPE_MESSAGE, type_name)
        add(f"many_{name}", F.TYPE_MESSAGE, type_name, F.LABEL_REPEATED)
    add("color", F.TYPE_ENUM, ".wire.Color")
    add("many_color", F.TYPE_ENUM, ".wire.Color", F.LABEL_REPEATED)
    add("null_field", F.TYPE_ENUM, ".google.protobuf.NullValue")
    message.oneof_decl.add(name="choice")
    for name in ("left", "right"):
        add(name, F.TYPE_INT32).oneof_index = 0
    add("either", F.TYPE_MESSAGE, ".wire.All").oneof_index = 0
    message.oneof_decl.add(name="_maybe")
    maybe = add("maybe", F.TYPE_INT32)
    maybe.oneof_index, maybe.proto3_optional = 1, True
    for key in ("string", "int32", "uint64", "bool"):
        for value, kind, type_name in (
            ("string", F.TYPE_STRING, ""),
            ("double", F.TYPE_DOUBLE, ""),
            ("all", F.TYPE_MESSAGE, ".wire.All"),
            ("color", F.TYPE_ENUM, ".wire.Color"),
        ):
            name = f"{key}_to_{value}"
            entry = message.nested_type.add(name="".join(part.title() for part in name.split("_")) + "Entry")
            entry.options.map_entry = True
            entry.field.add(name="key", number=1, type=F.Type.Value(f"TYPE_{key.upper()}"), label=F.LABEL_OPTIONAL)
            entry.field.add(name="value", number=2, type=kind, type_name=type_name or None, label=F.LABEL_OPTIONAL)
            add(name, F.TYPE_MESSAGE, f".wire.All.{entry.name}", F.LABEL_REPEATED)
    nested = message.nested_type.add(name="Inner")
    nested.nested_type.add(name="Innermost").field.add(name="x", number=1, type=F.TYPE_INT32, label=F.LABEL_OPTIONAL)
    return message


def _pool() -> DescriptorPool:
    pool = DescriptorPool()
    for module in _IMPORTS:
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    modern = descriptor_pb2.FileDescriptorProto(name="wire.proto", package="wire", syntax="proto3")
    modern.dependency.extend(module.DESCRIPTOR.name for module in _IMPORTS)
    modern.message_type.add(name="First").field.add(name="id", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    modern.message_type.append(_all())
    color = modern.enum_type.add(name="Color")
    for number, name in enumerate(("COLOR_UNSPECIFIED", "RED", "GREEN")):
        color.value.add(name=name, number=number)
    pool.Add(modern)
    old = descriptor_pb2.FileDescriptorProto(name="old.proto", package="old", syntax="proto2")
    message = old.message_type.add(name="Old")
    message.field.add(name="name", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    message.field.add(name="names", number=2, type=F.TYPE_STRING, label=F.LABEL_REPEATED)
    message.field.add(name="needed", number=3, type=F.TYPE_INT32, label=F.LABEL_REQUIRED)
    message.field.add(name="kind", number=4, type=F.TYPE_ENUM, type_name=".old.Kind", label=F.LABEL_OPTIONAL)
    message.field.add(name="child", number=5, type=F.TYPE_MESSAGE, type_name=".old.Loose", label=F.LABEL_OPTIONAL)
    loose = old.message_type.add(name="Loose")
    loose.field.add(name="name", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    entry = loose.nested_type.add(name="PairsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    loose.field.add(
        name="pairs", number=2, type=F.TYPE_MESSAGE, type_name=".old.Loose.PairsEntry", label=F.LABEL_REPEATED
    )
    kind = old.enum_type.add(name="Kind")
    kind.value.add(name="A", number=0)
    kind.value.add(name="B", number=1)
    pool.Add(old)
    for name, setting in (("strict", descriptor_pb2.FeatureSet.VERIFY), ("lax", descriptor_pb2.FeatureSet.NONE)):
        edition = descriptor_pb2.FileDescriptorProto(
            name=f"{name}.proto", package=name, syntax="editions", edition=descriptor_pb2.EDITION_2023
        )
        edition.options.features.utf8_validation = setting
        text = edition.message_type.add(name="Text")
        text.field.add(name="name", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
        pool.Add(edition)
    return pool


POOL = _pool()


def message_class(name: str) -> type[Message]:
    """The class of a message in the private pool."""
    return message_factory.GetMessageClass(POOL.FindMessageTypeByName(name))


All: Any = message_class("wire.All")
First: Any = message_class("wire.First")
Old: Any = message_class("old.Old")
Loose: Any = message_class("old.Loose")
