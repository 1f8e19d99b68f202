"""How generated TypeScript reads and writes the fields of a message: the objects that protobuf-es 2 makes.

A field is a property with a name of JavaScript's; the members of a oneof share one, ``{case, value}``; integers of 64
bits are bigints, maps are objects, a singular wrapper is what it wraps. A value that is not there reads as protobuf's
default, so that rules see what every other language sees.
"""

from __future__ import annotations

import json
import math
from typing import Final

from protocontract_compiler import ir
from protocontract_compiler.typescript_names import RESERVED, property_name

#: Types whose values are bigints.
BIG: Final = frozenset({ir.TYPE_INT64, ir.TYPE_UINT64, ir.TYPE_FIXED64, ir.TYPE_SFIXED64, ir.TYPE_SINT64})
#: Fields of this message are objects of JSON in protobuf-es.
STRUCT: Final = "google.protobuf.Struct"
#: The greatest integer of which a number of JavaScript has all neighbours.
_SAFE: Final = 2**53 - 1


def literal(value: object) -> str:
    """TypeScript of a constant: text, bool, number, a list of them, or a mapping with text keys."""
    match value:
        case None:
            return "undefined"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value) if abs(value) <= _SAFE else f"{value}n"
        case float():
            return number(value)
        case str():
            return text(value)
        case bytes():
            return f"new Uint8Array([{', '.join(map(str, value))}])"
        case list() | tuple():
            return f"[{', '.join(map(literal, value))}]"
        case dict():
            return f"{{ {', '.join(f'{text(str(key))}: {literal(item)}' for key, item in value.items())} }}"
    raise TypeError(f"no constant of TypeScript for {type(value).__name__}")


def text(value: str) -> str:
    """A text in double quotes, in ASCII but for what prints: escapes of JSON are those of JavaScript."""
    quoted = json.dumps(value, ensure_ascii=False)
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in quoted)


def number(value: float) -> str:
    """A double: the shortest text that reads as it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    shown = repr(value)
    return shown.removesuffix(".0")


def member(base: str, name: str) -> str:
    """Code of a property."""
    return f"{base}.{name}" if name.replace("$", "_").isidentifier() else f"{base}[{text(name)}]"


def place(base: str, field: ir.Field) -> str:
    """Code of the property that holds a field outside of oneofs."""
    return member(base, property_name(field.name))


def is_wrapped(field: ir.Field) -> bool:
    """Whether protobuf-es has the field as the value that its wrapper message wraps."""
    return field.message in ir.WRAPPERS and field.shape is ir.Shape.SINGULAR and field.oneof is None


def read(base: str, message: ir.Message, field: ir.Field) -> str:
    """An expression of the field's value; a singular message that is not set is undefined.

    Floats are rounded to single precision, as they are on the wire.
    """
    del message
    if field.shape is not ir.Shape.SINGULAR:
        return place(base, field)
    if field.oneof is not None:
        oneof = member(base, property_name(field.oneof))
        value = f"({oneof}.case === {text(property_name(field.name))} ? {oneof}.value : {default(field)})"
    elif field.type in ir.MESSAGE_TYPES:
        return place(base, field)
    elif field.has_presence:
        value = f"({place(base, field)} ?? {default(field)})"
    else:
        value = place(base, field)
    return converted(value, field)


def converted(value: str, field: ir.Field) -> str:
    """A stored value as rules see it: a float in single precision, an enum's member as a number."""
    if field.type == ir.TYPE_FLOAT:
        return f"Math.fround({value})"
    # The members of an enum are a type of their own, which no other number may be compared with.
    return f"({value} as number)" if field.type == ir.TYPE_ENUM else value


def held(base: str, field: ir.Field) -> str:
    """An expression of the value of a singular field with presence where ``present`` holds: its type is known there."""
    value = place(base, field) if field.oneof is None else f"{member(base, property_name(field.oneof))}.value"
    return converted(value, field)


def present(base: str, message: ir.Message, field: ir.Field) -> str:
    """A condition: whether a field with presence is set. It narrows the property's type."""
    del message
    if field.oneof is not None:
        return f"{member(base, property_name(field.oneof))}.case === {text(property_name(field.name))}"
    held = place(base, field)
    if field.type in ir.MESSAGE_TYPES:
        return f"{held} !== undefined"
    # In proto2 and editions a field that is not set reads as its default, which the prototype has.
    return f"Object.hasOwn({base}, {text(property_name(field.name))}) && {held} !== undefined"


def assign(base: str, message: ir.Message, field: ir.Field, code: str) -> str:
    """A statement that sets a field."""
    del message
    if field.oneof is not None:
        oneof = member(base, property_name(field.oneof))
        return f"{oneof} = {{ case: {text(property_name(field.name))}, value: {code} }};"
    held = place(base, field)
    return f"{held} = {code};" if field.type != ir.TYPE_ENUM else f"{held} = {code} as typeof {held};"


def default(field: ir.Field) -> str:
    """Code of the value that a singular field reads as when it is not set."""
    if field.type in ir.MESSAGE_TYPES:
        return "undefined"
    given = field.default
    if field.type in BIG:
        return f"{int(given or 0)}n"
    if given is not None:
        return literal(given)
    if field.type == ir.TYPE_STRING:
        return '""'
    if field.type == ir.TYPE_BYTES:
        return "new Uint8Array(0)"
    return "false" if field.type == ir.TYPE_BOOL else "0"


def key_kind(field: ir.Field) -> str:
    """The kind of a map's keys, as ``sortedKeys`` calls it."""
    assert field.key is not None
    if field.key.type == ir.TYPE_STRING:
        return "string"
    return "bool" if field.key.type == ir.TYPE_BOOL else "number"


def subscript_of(field: ir.Field, key: str) -> str:
    """Code of the subscript that stands for a key, which JavaScript holds as a text."""
    kind = key_kind(field)
    if kind == "string":
        return key
    return f'{key} === "true"' if kind == "bool" else f"BigInt({key})"


__all__ = ["RESERVED", "property_name"]
