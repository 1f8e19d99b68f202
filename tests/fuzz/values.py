"""Kinds of values that fields of random schemas hold: their descriptors, CEL types and constants for rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto

from tests.support.messages import BYTES, DOUBLES, FLOATS, INT32, INT64, STRINGS

T = FieldDescriptorProto

#: Scalar types: the member of FieldRules, and the pool that both values and rules' constants are drawn from.
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
WELL_KNOWN = {"Timestamp": "timestamp", "Duration": "duration", "Any": "any", "FieldMask": "field_mask"}


@dataclass(frozen=True, slots=True)
class Value:
    """A kind of value. ``rules`` is the member of FieldRules that fits it, empty for messages without one.

    ``cel`` is its CEL type: ``int``, ``timestamp``, ``message`` (which expressions use through its fields only).
    """

    type: int
    type_name: str
    rules: str
    cel: str

    @property
    def scalar(self) -> int:
        """The scalar type whose constants its rules take; 0 where it has none."""
        if self.type in SCALARS:
            return self.type
        return WRAPPERS.get(self.type_name.removeprefix(".google.protobuf."), 0)

    def put(self, field: FieldDescriptorProto) -> None:
        """Declares the field to hold such a value."""
        field.type = self.type  # type: ignore[assignment]  # the stubs want an enum value
        if self.type_name:
            field.type_name = self.type_name


def scalar(kind: int) -> Value:
    """A scalar type."""
    return Value(kind, "", SCALARS[kind][0], cel_type(kind))


def enum(name: str) -> Value:
    """An enum."""
    return Value(T.TYPE_ENUM, name, "enum", "int")


def wrapper(name: str) -> Value:
    """One of protobuf's wrappers of scalars."""
    kind = WRAPPERS[name]
    return Value(T.TYPE_MESSAGE, f".google.protobuf.{name}", SCALARS[kind][0], cel_type(kind))


def well_known(name: str) -> Value:
    """A message that buf.validate has rules for."""
    cel = WELL_KNOWN[name] if name in ("Timestamp", "Duration") else "message"
    return Value(T.TYPE_MESSAGE, f".google.protobuf.{name}", WELL_KNOWN[name], cel)


def message(name: str) -> Value:
    """Any other message."""
    return Value(T.TYPE_MESSAGE, name, "", "message")


def cel_type(kind: int) -> str:
    """The CEL type of a scalar type."""
    name = SCALARS[kind][0]
    if name in ("string", "bytes", "bool"):
        return name
    if name in ("double", "float"):
        return "double"
    return "uint" if name.startswith(("u", "fixed")) else "int"
