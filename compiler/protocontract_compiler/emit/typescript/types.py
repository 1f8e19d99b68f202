"""Emits plain interfaces of messages, for users who have no protobuf-es: the same properties, without its methods."""

from __future__ import annotations

from protocontract_compiler import ir
from protocontract_compiler.emit.typescript import access
from protocontract_compiler.emit.typescript.module import Module
from protocontract_compiler.emit.typescript.values import wrapped_type
from protocontract_compiler.emit.writer import Writer

_SCALARS = {
    ir.TYPE_BOOL: "boolean", ir.TYPE_STRING: "string", ir.TYPE_BYTES: "Uint8Array",
    **dict.fromkeys(access.BIG, "bigint"),
}  # fmt: skip


def declarations(module: Module) -> str:
    """The interfaces of all messages that the module names, and of those in their fields."""
    writer = Writer("  ")
    written: set[str] = set()
    while waiting := [name for name in module.plain if name not in written]:
        for name in waiting:
            written.add(name)
            writer.line()
            _interface(module, module.schema.messages[name], writer)
    return writer.text()


def _interface(module: Module, message: ir.Message, writer: Writer) -> None:
    with writer.block(f"export interface {module.plain[message.full_name]} {{"):
        for field in message.fields:
            if field.oneof is None:
                optional = field.shape is ir.Shape.SINGULAR and field.has_presence
                mark, end = ("?", " | undefined") if optional else ("", "")
                writer.line(f"{access.property_name(field.name)}{mark}: {_type(module, message, field)}{end};")
        for oneof in message.oneofs:
            cases = [
                f"{{ case: {access.text(access.property_name(name))}; value: "
                f"{_type(module, message, message.field(name))} }}"
                for name in oneof.fields
            ]
            cases.append("{ case: undefined; value?: undefined }")
            writer.line(f"{access.property_name(oneof.name)}: {' | '.join(cases)};")
    writer.line("}")


def _type(module: Module, message: ir.Message, field: ir.Field) -> str:
    if field.key is not None and field.value is not None:
        key = "number" if access.key_kind(field) == "number" and field.key.type not in access.BIG else "string"
        return f"{{ [key: {key}]: {_single(module, message, field.value)} }}"
    if access.is_wrapped(field):
        return _SCALARS.get(wrapped_type(str(field.message)), "number")
    single = _single(module, message, field)
    return f"{single}[]" if field.shape is ir.Shape.REPEATED else single


def _single(module: Module, message: ir.Message, field: ir.Field) -> str:
    if field.message == access.STRUCT and message.full_name != "google.protobuf.Value":
        return "object"
    if field.message is not None:
        return module.annotation(module.schema.messages[field.message])
    return _SCALARS.get(field.type, "number")
