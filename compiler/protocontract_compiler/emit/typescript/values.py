"""What protobuf-es holds of a field, as rules see it: zero values, wrappers, integers."""

from __future__ import annotations

from typing import Final

from protocontract_compiler import ir
from protocontract_compiler.emit.typescript import access
from protocontract_compiler.emit.typescript.cel_code import Held

#: Wrapper messages: the type of what they wrap, and code of its zero value.
WRAPPED: Final = {
    "google.protobuf.DoubleValue": (ir.TYPE_DOUBLE, "0"),
    "google.protobuf.FloatValue": (ir.TYPE_FLOAT, "0"),
    "google.protobuf.Int64Value": (ir.TYPE_INT64, "0n"),
    "google.protobuf.UInt64Value": (ir.TYPE_UINT64, "0n"),
    "google.protobuf.Int32Value": (ir.TYPE_INT32, "0"),
    "google.protobuf.UInt32Value": (ir.TYPE_UINT32, "0"),
    "google.protobuf.BoolValue": (ir.TYPE_BOOL, "false"),
    "google.protobuf.StringValue": (ir.TYPE_STRING, '""'),
    "google.protobuf.BytesValue": (ir.TYPE_BYTES, "new Uint8Array(0)"),
}


def is_set(base: str, message: ir.Message, field: ir.Field) -> str:
    """Code of "the field is set": present, or not its zero value, or not empty."""
    value = access.read(base, message, field)
    if field.shape is ir.Shape.MAP:
        return f"Object.keys({value}).length !== 0"
    if field.shape is ir.Shape.REPEATED:
        return f"{value}.length !== 0"
    if field.has_presence:
        return access.present(base, message, field)
    return not_zero(value, field)


def not_zero(value: str, field: ir.Field) -> str:
    """Code of "the value is not its type's zero": -0.0 is none, as its bits are not all zero."""
    if field.type in ir.FLOAT_TYPES:
        return f"!Object.is({value}, 0)"
    if field.type == ir.TYPE_STRING:
        return f'{value} !== ""'
    if field.type == ir.TYPE_BYTES:
        return f"{value}.length !== 0"
    if field.type == ir.TYPE_BOOL:
        return value
    return f"{value} !== {'0n' if field.type in access.BIG else '0'}"


def held_by(type_: int) -> Held:
    """What holds the value of a scalar type, if it is an integer or an enum."""
    if type_ in access.BIG:
        return "bigint"
    return "number" if type_ in ir.INTEGER_TYPES or type_ == ir.TYPE_ENUM else ""


def held(field: ir.Field) -> Held:
    """What holds the value of a field that is an integer, an enum or a wrapper of an integer."""
    if field.message in ir.WRAPPERS:
        return held_by(WRAPPED[field.message][0])
    return held_by(field.type)


def canonical(value: str, type_: int) -> str:
    """A stored value in the form that lists and maps have in CEL."""
    if held_by(type_) == "number":
        return f"BigInt({value})"
    return f"Math.fround({value})" if type_ == ir.TYPE_FLOAT else value


def wrapped_type(message: str) -> int:
    """The type of the value in a wrapper message."""
    return WRAPPED[message][0]
