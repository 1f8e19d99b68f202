"""Emits what the fields of a message hold, as tables that helpers read: for objects that no parser has looked at.

A web form builds its messages by hand. What Python's parser would refuse (a fraction in an int32, half of a surrogate
pair) is refused by these tables before any rule is asked.
"""

from __future__ import annotations

from typing import Final

from protocontract_compiler import ir
from protocontract_compiler.emit.names import screaming
from protocontract_compiler.emit.typescript import access
from protocontract_compiler.emit.typescript.module import Module
from protocontract_compiler.emit.typescript.values import wrapped_type

_KINDS: Final = {
    ir.TYPE_DOUBLE: "double", ir.TYPE_FLOAT: "float", ir.TYPE_BOOL: "bool", ir.TYPE_STRING: "string",
    ir.TYPE_BYTES: "bytes", ir.TYPE_ENUM: "enum",
    **dict.fromkeys((ir.TYPE_INT64, ir.TYPE_SFIXED64, ir.TYPE_SINT64), "int64"),
    **dict.fromkeys((ir.TYPE_UINT64, ir.TYPE_FIXED64), "uint64"),
    **dict.fromkeys((ir.TYPE_INT32, ir.TYPE_SFIXED32, ir.TYPE_SINT32), "int32"),
    **dict.fromkeys((ir.TYPE_UINT32, ir.TYPE_FIXED32), "uint32"),
}  # fmt: skip


class Shapes:
    """The tables of one module."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._names: dict[str, str] = {}
        self._empty: dict[str, str] = {}

    def of(self, message: str) -> str:
        """The name of the table of a message's fields."""
        name = self._names.get(message)
        if name is None:
            known = self._module.schema.messages[message]
            name = self._names[message] = self._module.names.fresh(f"SHAPE_{screaming(known.python_path)}")
            lines = [f"  {self._member(known, field)}," for field in known.fields]
            annotation = self._module.use("shape", "Shape", type_only=True)
            head = f"const {name}: {annotation} = ["
            self._module.shapes.lines += [head, *lines, "];"] if lines else [f"{head}];"]
        return name

    def _member(self, message: ir.Message, field: ir.Field) -> str:
        element = field.value or field
        parts = [f"name: {access.text(field.name)}"]
        property_ = access.property_name(field.name)
        if property_ != field.name:
            parts.append(f"property: {access.text(property_)}")
        wrapped = access.is_wrapped(field)
        if wrapped:
            parts.append(f"kind: {access.text(_KINDS[wrapped_type(str(field.message))])}")
        elif element.message == access.STRUCT and message.full_name != "google.protobuf.Value":
            parts.append('kind: "json"')
        elif element.message is not None:
            parts.append(f"kind: () => {self.of(element.message)}")
        else:
            parts.append(f"kind: {access.text(_KINDS[element.type])}")
        if field.key is not None:
            parts.append(f"key: {access.text(_KINDS[field.key.type])}")
        elif field.shape is ir.Shape.REPEATED:
            parts.append("list: true")
        if field.oneof is not None:
            parts.append(f"oneof: {access.text(access.property_name(field.oneof))}")
        elif field.legacy_required:
            parts.append("required: true")
        elif field.shape is ir.Shape.SINGULAR and (field.has_presence or element.message is not None):
            parts.append("optional: true")
        if element.governance.sensitive or field.governance.sensitive:
            parts.append("sensitive: true")
        return f"{{ {', '.join(parts)} }}"

    def empty(self, message: str) -> str:
        """The name of a constant that reads as a message of a type with nothing set."""
        name = self._empty.get(message)
        if name is None:
            known = self._module.schema.messages[message]
            name = self._empty[message] = self._module.names.fresh(f"EMPTY_{screaming(known.python_path)}")
            parts: dict[str, str] = {}
            for field in known.fields:
                if field.oneof is not None:
                    parts[access.property_name(field.oneof)] = "{ case: undefined }"
                elif field.shape is not ir.Shape.SINGULAR:
                    parts[access.property_name(field.name)] = "[]" if field.key is None else "{}"
                elif not field.has_presence:
                    parts[access.property_name(field.name)] = access.default(field)
            shown = ", ".join(f"{name_}: {code}" for name_, code in parts.items())
            type_ = self._module.annotation(known)
            self._module.shapes.lines.append(f"const {name} = {{ {shown} }} as unknown as {type_};")
        return name
