"""The canonical text of a message, and the fingerprint that is taken of it.

The text holds all that decides whether a record keeps its contract and what it becomes: the fields of the message and
of all that it reaches, their rules with the CEL that defines them, annotations, and the versions of the data that its
normalizers use. It holds no comment, no file name, no order of declaration, no tool version: moving a message, editing
a comment or compiling with another front end changes nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from functools import cache
from importlib import metadata

from protocontract_compiler import ir

# Data whose version is part of a contract's meaning, by the normalizers that read them.
_DATA = {
    "text": ("unicodedata2",),
    "label": ("unicodedata2",),
    "money": ("Babel", "unicodedata2"),
    "quantity": ("Babel", "Pint", "unicodedata2"),
    "instant": ("tzdata", "unicodedata2"),
    "scalar": ("unicodedata2",),
}


def dump(schema: ir.Schema, full_name: str) -> str:
    """The canonical text of a message and all that it reaches. Raises KeyError for an unknown name."""
    messages, enums = _reached(schema, full_name)
    lines = [f"contract {full_name}"]
    lines.extend(f"data {name} {version}" for name, version in _data_versions(messages))
    for message in sorted(messages, key=lambda message: message.full_name):
        lines.extend(_message(message))
    for enum in sorted(enums, key=lambda enum: enum.full_name):
        lines.extend(_enum(enum))
    return "\n".join(lines) + "\n"


def fingerprint(schema: ir.Schema, full_name: str) -> str:
    """SHA-256 of ``dump``, lower-case hex."""
    return hashlib.sha256(dump(schema, full_name).encode()).hexdigest()


def _reached(schema: ir.Schema, full_name: str) -> tuple[list[ir.Message], list[ir.Enum]]:
    messages: dict[str, ir.Message] = {}
    enums: dict[str, ir.Enum] = {}
    waiting = [full_name]
    while waiting:
        name = waiting.pop()
        # Well-known types are what protobuf says that they are; their own fields are no part of a contract.
        if name in messages or (name.startswith("google.protobuf.") and name != full_name):
            continue
        message = messages[name] = schema.messages[name]
        for field in message.fields:
            for part in (field, field.key, field.value):
                if part is None:
                    continue
                if part.message is not None:
                    waiting.append(part.message)
                if part.enum is not None and not part.enum.startswith("google.protobuf."):
                    enums[part.enum] = schema.enums[part.enum]
    return list(messages.values()), list(enums.values())


def _message(message: ir.Message) -> Iterator[str]:
    yield f"message {message.full_name}"
    if message.contract is not None:
        yield f"  contract {text_of(message.contract)}"
    if message.rule_source:
        yield f"  rules {message.rule_source}"
    for oneof in sorted(message.oneofs, key=lambda oneof: oneof.name):
        yield f"  oneof {oneof.name} {' '.join(sorted(oneof.fields))} {oneof.rule_source}".rstrip()
    for field in sorted(message.fields, key=lambda field: field.number):
        yield from (f"  {line}" for line in field_lines(field))


def field_lines(field: ir.Field) -> Iterator[str]:
    """The canonical text of a field: its type, then what its rules and annotations say, a line each."""
    yield f"field {_field(field)}"
    if field.rule_source:
        yield f"  rules {field.rule_source}"
    if field.normalizer is not None:
        yield f"  normalizer {text_of(field.normalizer)}"
    for relation in sorted(field.relations, key=lambda relation: relation.kind):
        yield f"  relation {text_of(relation)}"
    if field.governance != ir.Governance():
        yield f"  governance {text_of(field.governance)}"


def _field(field: ir.Field) -> str:
    parts = [str(field.number), field.name, field.json_name, field.shape.value, str(field.type)]
    parts.extend(f"{word}={name}" for word, name in (("message", field.message), ("enum", field.enum)) if name)
    parts.extend(word for word, on in (("presence", field.has_presence), ("required", field.legacy_required)) if on)
    if field.oneof is not None:
        parts.append(f"oneof={field.oneof}")
    if field.default is not None:
        parts.append(f"default={text_of(field.default)}")
    if field.key is not None and field.value is not None:
        parts.append(f"key={field.key.type} value={field.value.type}:{field.value.message or field.value.enum or ''}")
    return " ".join(parts)


def _enum(enum: ir.Enum) -> Iterator[str]:
    yield f"enum {enum.full_name}{' closed' if enum.closed else ''}"
    for value in sorted(enum.values, key=lambda value: (value.number, value.name)):
        yield f"  value {text_of(value)}"


def text_of(value: object) -> str:
    """A value as text. Dataclasses show what differs from the default, so that a new word changes no fingerprint."""
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if isinstance(value, tuple):
        return "[" + " ".join(text_of(item) for item in value) + "]"
    if is_dataclass(value) and not isinstance(value, type):
        shown = [
            f"{field.name}={text_of(getattr(value, field.name))}"
            for field in dataclass_fields(value)
            if field.name != "place" and getattr(value, field.name) != field.default
        ]
        return "{" + " ".join(shown) + "}"
    return repr(value)


def _data_versions(messages: list[ir.Message]) -> list[tuple[str, str]]:
    packages: set[str] = set()
    for message in messages:
        for field in message.fields:
            if field.normalizer is not None:
                packages.update(_DATA[field.normalizer.kind])
                if field.normalizer.kind == "text" and "amounts" in dict(field.normalizer.options):
                    packages.update(_DATA["money"])
            # Spans tell characters from white space and surrogates.
            if any(relation.kind == "spans" for relation in field.relations):
                packages.add("unicodedata2")
    return [(name, _VERSIONS[name]()) for name in sorted(packages)]


@cache
def _package_version(name: str) -> str:
    return metadata.version(name)


@cache
def _cldr_version() -> str:
    """The CLDR release in Babel where Babel tells it; a patch of Babel itself changes no locale data."""
    return ".".join(metadata.version("Babel").split(".")[:2])


_VERSIONS: dict[str, Callable[[], str]] = {
    "Babel": _cldr_version,
    "Pint": lambda: _package_version("Pint"),
    "tzdata": lambda: _package_version("tzdata"),
    "unicodedata2": lambda: _package_version("unicodedata2"),
}
