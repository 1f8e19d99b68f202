"""Options as pool-local messages.

A request carries options whose extensions Python does not know: they arrive as unknown fields. Each option message is
parsed anew with the class of the private pool, which holds every extension of the request. That is also the only way in
which a contract's own predefined rules (extensions of buf.validate's rules messages) are seen.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import (
    Descriptor,
    EnumValueDescriptor,
    FieldDescriptor,
    MethodDescriptor,
    OneofDescriptor,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message

VALIDATE = "buf.validate"
VOCABULARY = "protocontract.v1"


class OptionReader:
    """Reads the options of buf.validate and protocontract. Each method returns None where the option is not set."""

    def __init__(self, pool: DescriptorPool) -> None:
        self._pool = pool
        self._extensions: dict[str, FieldDescriptor | None] = {}
        self._predefined: dict[str, Message | None] = {}

    def field_rules(self, field: FieldDescriptor) -> Message | None:
        """``(buf.validate.field)``: FieldRules."""
        return self._read(field, f"{VALIDATE}.field")

    def message_rules(self, message: Descriptor) -> Message | None:
        """``(buf.validate.message)``: MessageRules."""
        return self._read(message, f"{VALIDATE}.message")

    def oneof_rules(self, oneof: OneofDescriptor) -> Message | None:
        """``(buf.validate.oneof)``: OneofRules."""
        return self._read(oneof, f"{VALIDATE}.oneof")

    def predefined(self, field: FieldDescriptor) -> Message | None:
        """``(buf.validate.predefined)`` of a field or extension of a rules message: PredefinedRules."""
        name = field.full_name
        if name not in self._predefined:
            self._predefined[name] = self._read(field, f"{VALIDATE}.predefined")
        return self._predefined[name]

    def contract(self, message: Descriptor) -> Message | None:
        """``(protocontract.v1.contract)``: Contract."""
        return self._read(message, f"{VOCABULARY}.contract")

    def field(self, field: FieldDescriptor) -> Message | None:
        """``(protocontract.v1.field)``: Field."""
        return self._read(field, f"{VOCABULARY}.field")

    def service_level(self, method: MethodDescriptor) -> Message | None:
        """``(protocontract.v1.service_level)``: ServiceLevel."""
        return self._read(method, f"{VOCABULARY}.service_level")

    def enum_value(self, value: EnumValueDescriptor) -> Message | None:
        """``(protocontract.v1.value)``: EnumValue."""
        return self._read(value, f"{VOCABULARY}.value")

    def _read(self, descriptor: Any, extension: str) -> Message | None:
        if not descriptor.has_options:
            return None
        field = self._extension(extension)
        if field is None or field.containing_type is None:
            return None
        message_class = message_factory.GetMessageClass(field.containing_type)
        read: Any = message_class.FromString(descriptor.GetOptions().SerializeToString())
        found: Message | None = read.Extensions[field] if read.HasExtension(field) else None
        return found

    def _extension(self, name: str) -> FieldDescriptor | None:
        if name not in self._extensions:
            try:
                self._extensions[name] = self._pool.FindExtensionByName(name)
            except KeyError:
                self._extensions[name] = None
        return self._extensions[name]
