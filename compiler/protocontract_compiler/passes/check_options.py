"""Checks the options as such: an enum number that the vocabulary does not name would say nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import Message

from protocontract_compiler import ir
from protocontract_compiler.descriptors import Loaded
from protocontract_compiler.diagnostics import Diagnostics
from protocontract_compiler.passes.pass_annotations import CONTRACT, FIELD, SERVICE_LEVEL


def check(loaded: Loaded, schema: ir.Schema, diagnostics: Diagnostics) -> None:
    """Notes unknown enum numbers in the options of all messages, fields and methods."""
    for message in schema.messages.values():
        descriptor = loaded.pool.FindMessageTypeByName(message.full_name)
        _check(loaded, descriptor, CONTRACT, loaded.options.contract(descriptor), diagnostics)
        for field in descriptor.fields:
            _check(loaded, field, FIELD, loaded.options.field(field), diagnostics)
    for service in schema.services.values():
        for method in loaded.pool.FindServiceByName(service.full_name).methods:
            _check(loaded, method, SERVICE_LEVEL, loaded.options.service_level(method), diagnostics)


def _check(loaded: Loaded, descriptor: Any, extension: str, options: Message | None, diagnostics: Diagnostics) -> None:
    for steps, number in _unknown(options, ()) if options is not None else ():
        word = ".".join(step for step in steps if isinstance(step, str))
        diagnostics.error(
            "option-value",
            loaded.places.option(descriptor, extension, *steps),
            f"{number} is no value of `{word}`; expected one that the vocabulary names",
        )


def _unknown(message: Message, steps: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    for field, value in message.ListFields():
        here = (*steps, field.name)
        entry = field.message_type
        if entry is not None and entry.GetOptions().map_entry:
            of = entry.fields_by_name["value"]
            for item in value.values() if of.message_type is None else (value[key] for key in value):
                yield from _of(of, item, here)
        elif hasattr(value, "__len__") and not isinstance(value, str | bytes):
            for index, item in enumerate(value):
                yield from _of(field, item, (*here, index))
        else:
            yield from _of(field, value, here)


def _of(field: Any, value: Any, steps: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], int]]:
    if field.message_type is not None:
        yield from _unknown(value, steps)
    elif field.enum_type is not None and value not in field.enum_type.values_by_number:
        yield steps, value
