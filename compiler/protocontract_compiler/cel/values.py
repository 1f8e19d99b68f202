"""Types of fields as CEL sees them, and constants read from messages of options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from protocontract_compiler.cel.errors import CelError, Untranslatable
from protocontract_compiler.ir_cel import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    FieldRef,
    Literal,
    Type,
    Value,
    list_of,
    map_of,
)

_SCALARS: Final = {
    FieldDescriptor.TYPE_BOOL: BOOL,
    FieldDescriptor.TYPE_BYTES: BYTES,
    FieldDescriptor.TYPE_DOUBLE: DOUBLE,
    FieldDescriptor.TYPE_ENUM: INT,
    FieldDescriptor.TYPE_FIXED32: UINT,
    FieldDescriptor.TYPE_FIXED64: UINT,
    FieldDescriptor.TYPE_FLOAT: DOUBLE,
    FieldDescriptor.TYPE_INT32: INT,
    FieldDescriptor.TYPE_INT64: INT,
    FieldDescriptor.TYPE_SFIXED32: INT,
    FieldDescriptor.TYPE_SFIXED64: INT,
    FieldDescriptor.TYPE_SINT32: INT,
    FieldDescriptor.TYPE_SINT64: INT,
    FieldDescriptor.TYPE_STRING: STRING,
    FieldDescriptor.TYPE_UINT32: UINT,
    FieldDescriptor.TYPE_UINT64: UINT,
}

WIRE_NAMES: Final = {
    getattr(FieldDescriptor, f"TYPE_{name.upper()}"): name
    for name in [
        "bool",
        "bytes",
        "double",
        "enum",
        "fixed32",
        "fixed64",
        "float",
        "group",
        "int32",
        "int64",
        "message",
        "sfixed32",
        "sfixed64",
        "sint32",
        "sint64",
        "string",
        "uint32",
        "uint64",
    ]
}

WRAPPERS: Final = {
    "google.protobuf.BoolValue": BOOL,
    "google.protobuf.BytesValue": BYTES,
    "google.protobuf.DoubleValue": DOUBLE,
    "google.protobuf.FloatValue": DOUBLE,
    "google.protobuf.Int32Value": INT,
    "google.protobuf.Int64Value": INT,
    "google.protobuf.StringValue": STRING,
    "google.protobuf.UInt32Value": UINT,
    "google.protobuf.UInt64Value": UINT,
}

_TIMES: Final = {"google.protobuf.Timestamp": TIMESTAMP, "google.protobuf.Duration": DURATION}

_MIN_SECONDS: Final = -62_135_596_800
_MAX_SECONDS: Final = 253_402_300_799

_DYNAMIC: Final = frozenset(
    {"google.protobuf.Any", "google.protobuf.ListValue", "google.protobuf.Struct", "google.protobuf.Value"}
)


def message_type(descriptor: Descriptor) -> Type:
    """The CEL type of values of a message type; a wrapper is its value's type, dynamic types are dyn."""
    name = descriptor.full_name
    if name in WRAPPERS:
        return WRAPPERS[name]
    if name in _TIMES:
        return _TIMES[name]
    if name in _DYNAMIC:
        return DYN
    return Type("message", message=name)


def is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry and is_repeated(field)


def entry_fields(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """The key and the value field of a map field."""
    entry: Any = field.message_type
    return entry.fields_by_name["key"], entry.fields_by_name["value"]


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether a field is repeated (a map is)."""
    return bool(field.is_repeated)


def element_type(field: FieldDescriptor) -> Type:
    """The CEL type of one value of a field."""
    if field.message_type is not None:
        return message_type(field.message_type)
    if field.enum_type is not None and field.enum_type.full_name == "google.protobuf.NullValue":
        return DYN
    return _SCALARS[field.type]


def field_type(field: FieldDescriptor) -> Type:
    """The CEL type of a whole field read from a message: a singular wrapper is nullable."""
    if is_map(field):
        key, value = entry_fields(field)
        return map_of(element_type(key), element_type(value))
    element = element_type(field)
    if is_repeated(field):
        return list_of(element)
    if field.message_type is not None and field.message_type.full_name in WRAPPERS:
        return Type(element.kind, nullable=True)
    return element


def field_ref(field: FieldDescriptor) -> FieldRef:
    """A field for the tree."""
    return FieldRef(
        name=field.name,
        number=field.number,
        message=field.containing_type.full_name if field.containing_type is not None else "",
        type=field_type(field),
        cardinality="map" if is_map(field) else "repeated" if is_repeated(field) else "singular",
        has_presence=field.has_presence,
        wire=WIRE_NAMES[field.type],
        message_type=field.message_type.full_name if field.message_type is not None else "",
    )


def plain(value: Any, type_: Type) -> Value:
    """One value of a field (a scalar, or a message of a well-known type) as a literal holds it."""
    if not isinstance(value, Message):
        return value  # type: ignore[no-any-return]  # protobuf's scalar types are what Value lists
    if type_ in (TIMESTAMP, DURATION):
        seconds, nanos = getattr(value, "seconds"), getattr(value, "nanos")  # noqa: B009  # run-time classes
        instant = int(seconds) * 1_000_000_000 + int(nanos)
        if type_ == TIMESTAMP and not (_MIN_SECONDS <= seconds <= _MAX_SECONDS and 0 <= nanos < 1_000_000_000):
            raise CelError("timestamp out of range; expected the years 1 to 9999 and less than a second of nanos")
        return instant
    if value.DESCRIPTOR.full_name in WRAPPERS:
        return getattr(value, "value")  # type: ignore[no-any-return]  # noqa: B009
    raise Untranslatable(f"a constant of message type {value.DESCRIPTOR.full_name}")


@dataclass(frozen=True, slots=True, eq=False)
class MessageConstant:
    """A message whose fields are constants: ``rules``, or a rule whose value is a message."""

    message: Message


Constant: TypeAlias = Literal | MessageConstant


def constant_of_field(message: Message, field: FieldDescriptor) -> Constant:
    """The value of a field, or of an extension, of an options message as a constant.

    Raises ``Untranslatable`` for repeated messages other than timestamps, durations and wrappers, and for messages
    whose CEL type is known at run time only.
    """
    type_ = field_type(field)
    stored: Any = _read(message, field)
    if type_.kind == "message":
        return MessageConstant(stored)
    if type_ == DYN:
        raise Untranslatable("a constant whose type is known at run time only (dyn)")
    if type_.kind == "map":
        key, value = type_.args
        return Literal(type_, tuple((plain(k, key), plain(stored[k], value)) for k in sorted(stored)))
    if type_.kind == "list":
        return Literal(type_, tuple(plain(item, type_.element) for item in stored))
    if type_.nullable and not message.HasField(field.name):
        return Literal(type_, None)
    return Literal(Type(type_.kind, type_.args, type_.message), plain(stored, type_))


def _read(message: Message, field: FieldDescriptor) -> Any:
    if field.is_extension:
        return message.Extensions[field]  # type: ignore[index]  # a descriptor is the key of Extensions
    return getattr(message, field.name)
