"""What the checks share: names looked up with a hint, and places inside options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

from protocontract.violations import OptionError
from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics, did_you_mean, one_of
from protocontract_compiler.passes.pass_annotations import FIELD

# https://semver.org, point 2 of the questions: the suggested expression.
SEMANTIC_VERSION = re.compile(
    r"(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)"
    r"(-((0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*))?"
    r"(\+([0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*))?"
)

_TYPE_WORDS = {
    ir.TYPE_STRING: "string", ir.TYPE_BYTES: "bytes", ir.TYPE_BOOL: "bool", ir.TYPE_ENUM: "enum",
    ir.TYPE_DOUBLE: "double", ir.TYPE_FLOAT: "float", ir.TYPE_INT32: "int32", ir.TYPE_INT64: "int64",
    ir.TYPE_UINT32: "uint32", ir.TYPE_UINT64: "uint64", ir.TYPE_SINT32: "sint32", ir.TYPE_SINT64: "sint64",
    ir.TYPE_FIXED32: "fixed32", ir.TYPE_FIXED64: "fixed64", ir.TYPE_SFIXED32: "sfixed32", ir.TYPE_SFIXED64: "sfixed64",
}  # fmt: skip

NUMBER_TYPES = ir.INTEGER_TYPES | ir.FLOAT_TYPES
UNSIGNED_TYPES = frozenset({ir.TYPE_UINT32, ir.TYPE_UINT64, ir.TYPE_FIXED32, ir.TYPE_FIXED64})
NARROW_TYPES = frozenset({ir.TYPE_INT32, ir.TYPE_UINT32, ir.TYPE_SINT32, ir.TYPE_FIXED32, ir.TYPE_SFIXED32})


def kind_of(field: ir.Field) -> str:
    """The field's type as a .proto writes it: ``repeated string``, ``map<string, int32>``, ``Timestamp``."""
    if field.key is not None and field.value is not None:
        return f"map<{kind_of(field.key)}, {kind_of(field.value)}>"
    word = _TYPE_WORDS.get(field.type) or "message"
    if field.message is not None:
        word = field.message.rpartition(".")[2]
    elif field.enum is not None:
        word = f"enum {field.enum.rpartition('.')[2]}"
    return f"repeated {word}" if field.shape is ir.Shape.REPEATED else word


def element(field: ir.Field) -> ir.Field:
    """The field whose type a normalizer meets: a map's value, else the field itself."""
    return field.value if field.value is not None else field


def singular(field: ir.Field, *types: int) -> bool:
    """Whether the field holds one value of one of the types."""
    return field.shape is ir.Shape.SINGULAR and field.type in types


def within_range(field: ir.Field, value: int) -> bool:
    """Whether an integer field can hold the value."""
    bits = 32 if field.type in NARROW_TYPES else 64
    if field.type in UNSIGNED_TYPES:
        return bool(0 <= value < 1 << bits)
    return bool(-(1 << (bits - 1)) <= value < 1 << (bits - 1))


def short(full_name: str) -> str:
    """The last part of a full name."""
    return full_name.rpartition(".")[2]


@dataclass(frozen=True)
class FieldScope:
    """One annotated field under check."""

    loaded: Loaded
    schema: ir.Schema
    diagnostics: Diagnostics
    message: ir.Message
    field: ir.Field

    @property
    def descriptor(self) -> FieldDescriptor:
        """The field's descriptor."""
        message = self.loaded.pool.FindMessageTypeByName(self.message.full_name)
        return message.fields_by_name[self.field.name]

    def place(self, *steps: str | int) -> ir.Place:
        """The place of a path inside the field's ``(protocontract.v1.field)``."""
        return self.loaded.places.option(self.descriptor, FIELD, *steps)

    def error(self, id_: str, steps: tuple[str | int, ...], message: str, hint: str | None = None) -> None:
        """Notes a mistake at a path inside the option."""
        self.diagnostics.error(id_, self.place(*steps), message, hint)

    def lookup(
        self, id_: str, steps: tuple[str | int, ...], name: str, owner: ir.Message | None = None
    ) -> ir.Field | None:
        """The field of that name in ``owner`` (by default the field's message); a missing one is a mistake."""
        owner = owner or self.message
        for candidate in owner.fields:
            if candidate.name == name:
                return candidate
        self.error(
            id_, steps, f"`{name}` is not a field of {short(owner.full_name)}",
            one_of(name, [candidate.name for candidate in owner.fields]),
        )  # fmt: skip
        return None

    def options(
        self,
        id_: str,
        word: str,
        build: Callable[..., Any],
        options: dict[str, Any],
    ) -> Any | None:
        """What ``build(**options)`` of the runtime makes, or None with its complaint noted at the option's place."""
        try:
            return build(**options)
        except OptionError as error:
            name = error.option.partition(".")[0].partition("[")[0]
            steps = (word, name) if name in options else (word,)
            hint = None
            if name == "zone":
                from protocontract.normalize import instant_zone

                hint = did_you_mean(str(options.get(name)), instant_zone.names())
            self.error(id_, steps, f"`{word}.{error.option}`: {error.message}", hint)
            return None


def annotated_fields(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> Iterator[FieldScope]:
    """Every field with `(protocontract.v1.field)`."""
    for message in schema.messages.values():
        if message.full_name.startswith("google.protobuf."):
            continue
        descriptor = loaded.pool.FindMessageTypeByName(message.full_name)
        for field in message.fields:
            if loaded.options.field(descriptor.fields_by_name[field.name]) is not None:
                yield FieldScope(loaded, schema, diagnostics, message, field)
