"""Prints a file descriptor as .proto source that compiles to an equal descriptor.

Covers what proto2 and proto3 files declare, custom options included. Comments are not in a descriptor; they are lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf import descriptor_pool, message_factory, text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    ServiceDescriptorProto,
)
from google.protobuf.message import Message

_LABELS = {1: "optional", 2: "required", 3: "repeated"}
_TYPES = {
    1: "double", 2: "float", 3: "int64", 4: "uint64", 5: "int32", 6: "fixed64", 7: "fixed32", 8: "bool", 9: "string",
    12: "bytes", 13: "uint32", 15: "sfixed32", 16: "sfixed64", 17: "sint32", 18: "sint64",
}  # fmt: skip
_MAX_FIELD = 536870912


def print_proto(file: FileDescriptorProto, pool: descriptor_pool.DescriptorPool) -> str:
    """The source of ``file``. ``pool`` holds the file and its dependencies.

    Raises ValueError for what it cannot print: editions, groups, weak dependencies.
    """
    if file.syntax not in ("", "proto2", "proto3"):
        raise ValueError(f"{file.name}: only proto2 and proto3 can be printed")
    return "".join(f"{line}\n" for line in _Printer(file, pool).lines())


class _Printer:
    def __init__(self, file: FileDescriptorProto, pool: descriptor_pool.DescriptorPool) -> None:
        self._file = file
        self._pool = pool
        self._proto3 = file.syntax == "proto3"

    def lines(self) -> Iterator[str]:
        file = self._file
        yield f'syntax = "{file.syntax or "proto2"}";'
        if file.package:
            yield ""
            yield f"package {file.package};"
        if file.dependency:
            yield ""
        for index, name in enumerate(file.dependency):
            public = "public " if index in file.public_dependency else ""
            yield f'import {public}"{name}";'
        options = self._options(file.options)
        if options:
            yield ""
        yield from (f"option {option};" for option in options)
        yield from self._extensions(file.extension, "")
        for enum in file.enum_type:
            yield ""
            yield from self._enum(enum, "")
        for message in file.message_type:
            yield ""
            yield from self._message(message, "")
        for service in file.service:
            yield ""
            yield from self._service(service)

    def _message(self, message: DescriptorProto, indent: str) -> Iterator[str]:
        inner = indent + "  "
        yield f"{indent}message {message.name} {{"
        yield from (f"{inner}option {option};" for option in self._options(message.options))
        yield from self._reserved(message, inner, _MAX_FIELD, 1)
        for extensions in message.extension_range:
            end = "max" if extensions.end == _MAX_FIELD else str(extensions.end - 1)
            options = self._bracketed(extensions.options)
            yield f"{inner}extensions {extensions.start} to {end}{options};"
        for enum in message.enum_type:
            yield from self._enum(enum, inner)
        for nested in message.nested_type:
            if not nested.options.map_entry:
                yield from self._message(nested, inner)
        yield from self._extensions(message.extension, inner)
        open_oneof = ""
        for field in message.field:
            oneof = ""
            if field.HasField("oneof_index") and not field.proto3_optional:
                oneof = message.oneof_decl[field.oneof_index].name
            if open_oneof and oneof != open_oneof:
                yield f"{inner}}}"
            if oneof and oneof != open_oneof:
                yield f"{inner}oneof {oneof} {{"
                inside = self._options(message.oneof_decl[field.oneof_index].options)
                yield from (f"{inner}  option {option};" for option in inside)
            open_oneof = oneof
            yield from self._field(field, message, inner + "  " if oneof else inner, in_oneof=bool(oneof))
        if open_oneof:
            yield f"{inner}}}"
        yield f"{indent}}}"

    def _field(
        self, field: FieldDescriptorProto, message: DescriptorProto | None, indent: str, *, in_oneof: bool = False
    ) -> Iterator[str]:
        type_name = self._type(field, message)
        label = "" if in_oneof or type_name.startswith("map<") else self._label(field)
        options: list[str] = []
        if field.HasField("default_value"):
            options.append(f"default = {_default(field)}")
        if field.json_name and field.json_name != _json_name(field.name) and not field.extendee:
            options.append(f"json_name = {_quoted(field.json_name)}")
        options.extend(self._options(field.options))
        head = f"{indent}{label}{type_name} {field.name} = {field.number}"
        if not options:
            yield f"{head};"
            return
        yield f"{head} ["
        for index, option in enumerate(options):
            yield f"{indent}  {option}{',' if index + 1 < len(options) else ''}"
        yield f"{indent}];"

    def _label(self, field: FieldDescriptorProto) -> str:
        if self._proto3 and field.label == FieldDescriptorProto.LABEL_OPTIONAL and not field.proto3_optional:
            return ""
        return _LABELS[field.label] + " "

    def _type(self, field: FieldDescriptorProto, message: DescriptorProto | None) -> str:
        if field.type in _TYPES:
            return _TYPES[field.type]
        if field.type == FieldDescriptorProto.TYPE_GROUP:
            raise ValueError(f"{self._file.name}: groups cannot be printed ({field.name})")
        for nested in message.nested_type if message is not None else ():
            if nested.options.map_entry and field.type_name.endswith(f".{nested.name}"):
                key, value = nested.field
                return f"map<{self._type(key, None)}, {self._type(value, None)}>"
        return field.type_name

    def _extensions(self, extensions: Any, indent: str) -> Iterator[str]:
        extendee = ""
        for extension in extensions:
            if extension.extendee != extendee:
                if extendee:
                    yield f"{indent}}}"
                yield ""
                yield f"{indent}extend {extension.extendee} {{"
                extendee = extension.extendee
            yield from self._field(extension, None, indent + "  ")
        if extendee:
            yield f"{indent}}}"

    def _enum(self, enum: EnumDescriptorProto, indent: str) -> Iterator[str]:
        yield f"{indent}enum {enum.name} {{"
        yield from (f"{indent}  option {option};" for option in self._options(enum.options))
        yield from self._reserved(enum, indent + "  ", 0x7FFFFFFF, 0)
        for value in enum.value:
            yield f"{indent}  {value.name} = {value.number}{self._bracketed(value.options)};"
        yield f"{indent}}}"

    def _service(self, service: ServiceDescriptorProto) -> Iterator[str]:
        yield f"service {service.name} {{"
        yield from (f"  option {option};" for option in self._options(service.options))
        for method in service.method:
            request = ("stream " if method.client_streaming else "") + method.input_type
            response = ("stream " if method.server_streaming else "") + method.output_type
            yield f"  rpc {method.name}({request}) returns ({response}) {{"
            yield from (f"    option {option};" for option in self._options(method.options))
            yield "  }"
        yield "}"

    def _reserved(self, holder: Any, indent: str, maximum: int, exclusive: int) -> Iterator[str]:
        """Ranges of messages exclude their end, ranges of enums include it."""
        for reserved in holder.reserved_range:
            last = reserved.end - exclusive
            end = "max" if reserved.end == maximum else str(last)
            yield (
                f"{indent}reserved {reserved.start};"
                if last == reserved.start
                else (f"{indent}reserved {reserved.start} to {end};")
            )
        for name in holder.reserved_name:
            yield f"{indent}reserved {_quoted(name)};"

    def _bracketed(self, options: Message) -> str:
        listed = self._options(options)
        return f" [{', '.join(listed)}]" if listed else ""

    def _options(self, options: Message) -> list[str]:
        """``name = value`` of each option. Extensions are named in full, messages printed as aggregates."""
        raw = options.SerializeToString()
        if not raw:
            return []
        descriptor = self._pool.FindMessageTypeByName(options.DESCRIPTOR.full_name)
        parsed = message_factory.GetMessageClass(descriptor).FromString(raw)
        printed: list[str] = []
        for field, value in parsed.ListFields():
            if field.name == "map_entry" and not field.is_extension:
                continue
            name = f"(.{field.full_name})" if field.is_extension else field.name
            values = value if _is_list(value) else [value]
            printed.extend(f"{name} = {_option_value(field, item)}" for item in values)
        return printed


def _is_list(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str | bytes | Message)


def _option_value(field: FieldDescriptor, value: Any) -> str:
    if isinstance(value, Message):
        return "{ " + text_format.MessageToString(value, as_one_line=True) + " }"
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name)
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str | bytes) else repr(value)


def _default(field: FieldDescriptorProto) -> str:
    if field.type == FieldDescriptorProto.TYPE_STRING:
        return _quoted(field.default_value)
    # The default of a bytes field is stored in escaped form already.
    return f'"{field.default_value}"' if field.type == FieldDescriptorProto.TYPE_BYTES else field.default_value


def _quoted(value: str | bytes) -> str:
    """A string literal of the protobuf language: printable ASCII as it is, every other byte in octal."""
    escape: Callable[[int], str] = lambda byte: (  # noqa: E731
        f"\\{chr(byte)}" if byte in b'"\\' else chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}"
    )
    raw = value.encode() if isinstance(value, str) else value
    return '"' + "".join(map(escape, raw)) + '"'


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)
