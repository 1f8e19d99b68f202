"""What a change of a field's type, cardinality or presence does to bytes, JSON and generated code.

Sources: the encoding guide of protobuf (which wire types share a payload), the proto3 JSON mapping, the attributes of
protoc's Python classes, the property types of protobuf-es v2.
"""

from __future__ import annotations

from typing import Final

from protocontract_ci.diff.pairing import Pairs
from protocontract_ci.model import Compatibility, Effect
from protocontract_compiler import ir

_NAMES: Final = {
    ir.TYPE_DOUBLE: "double", ir.TYPE_FLOAT: "float", ir.TYPE_INT64: "int64", ir.TYPE_UINT64: "uint64",
    ir.TYPE_INT32: "int32", ir.TYPE_FIXED64: "fixed64", ir.TYPE_FIXED32: "fixed32", ir.TYPE_BOOL: "bool",
    ir.TYPE_STRING: "string", ir.TYPE_GROUP: "group", ir.TYPE_MESSAGE: "message", ir.TYPE_BYTES: "bytes",
    ir.TYPE_UINT32: "uint32", ir.TYPE_ENUM: "enum", ir.TYPE_SFIXED32: "sfixed32", ir.TYPE_SFIXED64: "sfixed64",
    ir.TYPE_SINT32: "sint32", ir.TYPE_SINT64: "sint64",
}  # fmt: skip

# Types whose payloads read as each other: the same wire type and the same encoding in it.
_WIRE: Final = {
    "int32": "varint", "int64": "varint", "uint32": "varint", "uint64": "varint", "bool": "varint", "enum": "varint",
    "sint32": "zigzag", "sint64": "zigzag", "fixed32": "i32", "sfixed32": "i32", "fixed64": "i64", "sfixed64": "i64",
    "string": "text", "bytes": "text", "float": "float", "double": "double",
}  # fmt: skip
_JSON: Final = {
    **dict.fromkeys(("int32", "uint32", "sint32", "fixed32", "sfixed32"), "number"),
    **dict.fromkeys(("int64", "uint64", "sint64", "fixed64", "sfixed64"), "decimal string"),
    **dict.fromkeys(("float", "double"), "number or NaN"),
    "bool": "bool", "string": "string", "bytes": "base64", "enum": "name",
}  # fmt: skip
_PYTHON: Final = {
    **dict.fromkeys(
        ("int32", "uint32", "sint32", "fixed32", "sfixed32", "int64", "uint64", "sint64", "fixed64", "sfixed64"), "int"
    ),
    **dict.fromkeys(("float", "double"), "float"),
    "bool": "bool", "string": "str", "bytes": "bytes", "enum": "enum",
}  # fmt: skip
_TYPESCRIPT: Final = {
    **dict.fromkeys(("int32", "uint32", "sint32", "fixed32", "sfixed32", "float", "double"), "number"),
    **dict.fromkeys(("int64", "uint64", "sint64", "fixed64", "sfixed64"), "bigint"),
    "bool": "boolean", "string": "string", "bytes": "Uint8Array", "enum": "enum",
}  # fmt: skip
_BITS: Final = {name: 64 if name.endswith("64") else 32 for name in _PYTHON if _PYTHON[name] == "int"}
_UNSIGNED: Final = ("uint32", "uint64", "fixed32", "fixed64")

_ALL_BREAK: Final = Compatibility("breaking", "breaking", "breaking", "breaking")


def type_text(field: ir.Field) -> str:
    """A field's type as the .proto writes it, without its cardinality: ``int32``, ``shop.v1.Coupon``, ``map<..>``."""
    if field.key is not None and field.value is not None:
        return f"map<{type_text(field.key)}, {type_text(field.value)}>"
    return field.message or field.enum or _NAMES[field.type]


def declaration(field: ir.Field) -> str:
    """The whole declaration on one line, without options: ``repeated string tags = 2``."""
    label = ""
    if field.legacy_required:
        label = "required "
    elif field.shape is ir.Shape.REPEATED:
        label = "repeated "
    elif field.has_presence and not field.message and field.oneof is None and field.shape is ir.Shape.SINGULAR:
        label = "optional "
    return f"{label}{type_text(field)} {field.name} = {field.number}"


def same_type(old: ir.Field, new: ir.Field, pairs: Pairs) -> bool:
    """Whether items of both have one type, renamed messages and enums counted as the same.

    Cardinality is not looked at, but a map is never a repeated message.
    """
    if old.key is not None or new.key is not None:
        return (
            old.key is not None and new.key is not None and old.value is not None and new.value is not None
            and same_type(old.key, new.key, pairs) and same_type(old.value, new.value, pairs)
        )  # fmt: skip
    same_kind = old.type == new.type
    return same_kind and pairs.same(old.message, new.message) and pairs.same(old.enum, new.enum)


def delimited_only(old: ir.Field, new: ir.Field, pairs: Pairs) -> bool:
    """Whether nothing differs but how a message is put on the wire: length-prefixed or between two tags (a group)."""
    kinds = {old.type, new.type} == {ir.TYPE_GROUP, ir.TYPE_MESSAGE}
    return kinds and old.key is None and new.key is None and pairs.same(old.message, new.message)


def type_effect(old: ir.Field, new: ir.Field) -> Compatibility:
    """The effect of another type, for two that are not the same."""
    if old.key is not None and new.key is not None and old.value is not None and new.value is not None:
        parts = [type_effect(a, b) for a, b in ((old.key, new.key), (old.value, new.value)) if a.type != b.type]
        return _worst(parts) if parts else _ALL_BREAK
    before, after = _NAMES[old.type], _NAMES[new.type]
    if before not in _WIRE or after not in _WIRE or (before == after == "enum"):
        # Messages: other fields in the same bytes. Two enums: other names under the same numbers.
        wire: Effect = "compatible" if before == after == "enum" else "breaking"
        return Compatibility(wire, "breaking", "breaking", "breaking")
    if "repeated" in (old.shape.value, new.shape.value) and _WIRE[before] != _WIRE[after]:
        return _ALL_BREAK
    wire = "compatible" if _WIRE[before] == _WIRE[after] else "breaking"
    # bool and enum hold fewer values than the numbers that share their wire type.
    json = _effect(_JSON[before] == _JSON[after])
    python = _effect(_PYTHON[before] == _PYTHON[after])
    typescript = _effect(_TYPESCRIPT[before] == _TYPESCRIPT[after])
    if python == "compatible" and _PYTHON[after] == "int" and _narrower(before, after):
        python = "breaking"  # an assignment out of range raises ValueError
    if before == "double":
        python = "breaking"  # a float keeps half of the digits
    return Compatibility(wire, json, python, typescript)


def cardinality_effect(old: ir.Field, new: ir.Field) -> Compatibility:
    """The effect of one value becoming many, or a map, or the other way round."""
    if ir.Shape.MAP in (old.shape, new.shape):
        return _ALL_BREAK
    # The last of several values wins where a message, text or bytes is read as one; packed numbers are one payload.
    lenient = old.type in (ir.TYPE_STRING, ir.TYPE_BYTES, *ir.MESSAGE_TYPES)
    return Compatibility("compatible" if lenient else "breaking", "breaking", "breaking", "breaking")


def presence_effect(old: ir.Field, new: ir.Field) -> Compatibility:
    """The effect of ``optional`` coming or going on a field outside of oneofs."""
    if new.has_presence:
        # Attributes read as before; HasField and ClearField become possible. The property may be undefined now.
        return Compatibility("compatible", "compatible", "compatible", "breaking")
    return Compatibility("compatible", "compatible", "breaking", "breaking")


def _effect(same: bool) -> Effect:
    return "compatible" if same else "breaking"


def _narrower(before: str, after: str) -> bool:
    if (before in _UNSIGNED) != (after in _UNSIGNED):
        return not (before in _UNSIGNED and _BITS[after] > _BITS[before])
    return _BITS[after] < _BITS[before]


def _worst(parts: list[Compatibility]) -> Compatibility:
    def worst(effects: list[Effect]) -> Effect:
        return "breaking" if "breaking" in effects else "compatible"

    return Compatibility(
        worst([part.wire for part in parts]), worst([part.json for part in parts]),
        worst([part.python for part in parts]), worst([part.typescript for part in parts]),
    )  # fmt: skip
