"""Descriptors to IR: files, messages, fields, enums, services. Rules and annotations are the passes' work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    FileDescriptor,
    ServiceDescriptor,
)
from google.protobuf.descriptor_pb2 import DescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool

from protocontract_compiler import ir
from protocontract_compiler.descriptors.canonical import canonical
from protocontract_compiler.descriptors.options import OptionReader
from protocontract_compiler.descriptors.places import Places


def read_schema(
    names: Sequence[str], requested: frozenset[str], pool: DescriptorPool, options: OptionReader, places: Places
) -> ir.Schema:
    """The schema of the named files, all of which ``pool`` holds."""
    reader = _Reader(options, places)
    for name in names:
        reader.file(pool.FindFileByName(name), requested=name in requested)
    return ir.Schema(reader.files, reader.messages, reader.enums, reader.services)


class _Reader:
    def __init__(self, options: OptionReader, places: Places) -> None:
        self._options = options
        self._places = places
        self._optional: dict[str, frozenset[int]] = {}
        self.files: dict[str, ir.File] = {}
        self.messages: dict[str, ir.Message] = {}
        self.enums: dict[str, ir.Enum] = {}
        self.services: dict[str, ir.Service] = {}

    def file(self, file: FileDescriptor, *, requested: bool) -> None:
        messages = list(_messages(file.message_types_by_name.values()))
        enums = [*file.enum_types_by_name.values(), *(enum for message in messages for enum in message.enum_types)]
        for message in messages:
            self.messages[message.full_name] = self._message(message)
        for enum in enums:
            self.enums[enum.full_name] = self._enum(enum)
        for service in file.services_by_name.values():
            self.services[service.full_name] = self._service(service)
        self.files[file.name] = ir.File(
            name=file.name,
            package=file.package,
            requested=requested,
            dependencies=tuple(dependency.name for dependency in file.dependencies),
            messages=tuple(message.full_name for message in messages),
            enums=tuple(enum.full_name for enum in enums),
            services=tuple(service.full_name for service in file.services_by_name.values()),
        )

    def _message(self, message: Descriptor) -> ir.Message:
        rules = self._options.message_rules(message)
        scope = f"{message.file.package}." if message.file.package else ""
        return ir.Message(
            full_name=message.full_name,
            python_path=message.full_name.removeprefix(scope),
            file=message.file.name,
            fields=tuple(self._field(field) for field in message.fields),
            oneofs=tuple(
                ir.Oneof(
                    name=oneof.name,
                    fields=tuple(field.name for field in oneof.fields),
                    rule_source=canonical(found) if (found := self._options.oneof_rules(oneof)) is not None else "",
                    place=self._places.of(oneof),
                )
                for oneof in message.oneofs
                if not self._synthetic(oneof.fields[0])
            ),
            rule_source=canonical(rules) if rules is not None else "",
            comment=self._places.comment(message),
            place=self._places.of(message),
        )

    def _field(self, field: FieldDescriptor) -> ir.Field:
        entry = field.message_type if field.message_type is not None and _is_map_entry(field.message_type) else None
        rules = self._options.field_rules(field)
        oneof = field.containing_oneof
        return ir.Field(
            name=field.name,
            number=field.number,
            # Maps are never delimited, whatever the features of their file say.
            type=ir.TYPE_MESSAGE if entry is not None else field.type,
            shape=ir.Shape.MAP if entry is not None else ir.Shape.REPEATED if _repeated(field) else ir.Shape.SINGULAR,
            has_presence=field.has_presence,
            json_name=field.json_name,
            message=field.message_type.full_name if field.message_type is not None and entry is None else None,
            enum=field.enum_type.full_name if field.enum_type is not None else None,
            oneof=oneof.name if oneof is not None and not self._synthetic(field) else None,
            key=self._field(entry.fields_by_name["key"]) if entry is not None else None,
            value=self._field(entry.fields_by_name["value"]) if entry is not None else None,
            default=field.default_value if field.has_default_value else None,
            legacy_required=_required(field),
            rule_source=canonical(rules, self._options.predefined) if rules is not None else "",
            comment=self._places.comment(field),
            place=self._places.of(field),
        )

    def _synthetic(self, field: FieldDescriptor) -> bool:
        """Whether the oneof of a field is the one that proto3's `optional` makes up: only the proto says so."""
        message = field.containing_type
        if message is None:
            return False
        if message.full_name not in self._optional:
            proto = DescriptorProto()
            message.CopyToProto(proto)
            self._optional[message.full_name] = frozenset(f.number for f in proto.field if f.proto3_optional)
        return field.number in self._optional[message.full_name]

    def _enum(self, enum: EnumDescriptor) -> ir.Enum:
        return ir.Enum(
            full_name=enum.full_name,
            values=tuple(ir.EnumValue(value.name, value.number) for value in enum.values),
            closed=bool(enum.is_closed),
            file=enum.file.name,
            place=self._places.of(enum),
        )

    def _service(self, service: ServiceDescriptor) -> ir.Service:
        return ir.Service(
            full_name=service.full_name,
            file=service.file.name,
            methods=tuple(
                ir.Method(
                    name=method.name,
                    request=method.input_type.full_name,
                    response=method.output_type.full_name,
                    client_streaming=method.client_streaming,
                    server_streaming=method.server_streaming,
                    place=self._places.of(method),
                )
                for method in service.methods
            ),
        )


def _messages(messages: Iterable[Descriptor]) -> Iterator[Descriptor]:
    """Messages with what they nest, outer ones first; entries of maps are no messages of their own."""
    for message in messages:
        if not _is_map_entry(message):
            yield message
            yield from _messages(message.nested_types)


def _is_map_entry(message: Descriptor) -> bool:
    return bool(message.has_options and message.GetOptions().map_entry)


def _repeated(field: FieldDescriptor) -> bool:
    # protobuf 6.31 brought the property and warns of `label` from then on; 6.30 has `label` alone.
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else bool(getattr(field, "label") == 3)  # noqa: B009


def _required(field: FieldDescriptor) -> bool:
    return bool(field.is_required) if hasattr(field, "is_required") else bool(getattr(field, "label") == 2)  # noqa: B009
