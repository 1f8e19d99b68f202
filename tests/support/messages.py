"""Hypothesis strategies for protobuf messages: any message of a type, drawn from pools that sit on rules' edges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from hypothesis import strategies as st

M = TypeVar("M", bound=Message)

UUID = "123e4567-e89b-12d3-a456-426614174000"

STRINGS = [
    "", "a", "ab", "a\n", " ", "é", "e\u0301", "日本", "\U0001f600x", UUID, UUID.upper(), UUID[:-1], f"{UUID}\n",
    "PERSON", "LOCATION", "MISC", "system", "user", "CNY", "1.0.0", "1.2.3", "model-a@1.0.0", "model@1.0",
    "https://example.com/a?b#c", "http://[::1]/", "urn:x:y", "//nope", "a@example.com", "a b@example.com",
    "example.com", "127.0.0.1", "x" * 19, "x" * 128, "x" * 129, "x" * 140, "x" * 141, "x" * 512, "x" * 513,
    "日" * 512, "0" * 64, "0" * 63 + "G", "\x00", "\u2028",
]  # fmt: skip
INT32 = [0, 1, 2, 3, 4, 5, 7, -1, -100, 63, 64, 255, 256, 250000, 2**31 - 1, -(2**31)]
INT64 = [*INT32, 2**53, 2**63 - 1, -(2**63)]
DOUBLES = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-45, 1e308, float("inf"), float("-inf"), float("nan")]
FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1.5, float("inf"), float("-inf"), float("nan")]
BYTES = [b"", b"a", b"\x00\xff", b"x" * 1536, b"\x00" * 1536]

_Type = FieldDescriptor


def pool(field: FieldDescriptor) -> Sequence[Any]:
    """Values of a scalar or enum field's type that sit on the edges of rules."""
    match field.type:
        case _Type.TYPE_STRING:
            return STRINGS
        case _Type.TYPE_BYTES:
            return BYTES
        case _Type.TYPE_BOOL:
            return [False, True]
        case _Type.TYPE_DOUBLE:
            return DOUBLES
        case _Type.TYPE_FLOAT:
            return FLOATS
        case _Type.TYPE_INT32 | _Type.TYPE_SINT32 | _Type.TYPE_SFIXED32:
            return INT32
        case _Type.TYPE_INT64 | _Type.TYPE_SINT64 | _Type.TYPE_SFIXED64:
            return INT64
        case _Type.TYPE_UINT32 | _Type.TYPE_FIXED32:
            return [abs(number) & 0xFFFFFFFF for number in INT32]
        case _Type.TYPE_UINT64 | _Type.TYPE_FIXED64:
            return [abs(number) for number in INT64]
        case _Type.TYPE_ENUM:
            numbers = [value.number for value in field.enum_type.values]
            return numbers if field.enum_type.is_closed else [*numbers, 99, -1]
    raise AssertionError(field.type)


def is_repeated(field: FieldDescriptor) -> bool:
    """Whether the field is a list or a map."""
    return bool(field.is_repeated) if hasattr(field, "is_repeated") else field.label == _Type.LABEL_REPEATED


def is_map(field: FieldDescriptor) -> bool:
    """Whether the field is a map."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


@cache
def _value(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    """A value of the pool. Strategies are made once: hypothesis takes longer to look at one than to draw from it."""
    return st.sampled_from(pool(field))


@cache
def _values(field: FieldDescriptor, most: int) -> st.SearchStrategy[list[Any]]:
    return st.lists(_value(field), max_size=most)


@cache
def _few_fields(descriptor: Descriptor) -> st.SearchStrategy[list[FieldDescriptor]]:
    return st.lists(st.sampled_from(list(descriptor.fields)), max_size=2)


_BOOLEANS = st.booleans()
_SIZES = st.integers(0, 3)
# Beyond these bounds protovalidate has no value for CEL to work on.
_SECONDS = st.sampled_from([0, 1, -1, 1577836800, 1577836801, 253402300799, -62135596800])
_NANOS = st.sampled_from([0, 1, 999999999])


@st.composite
def messages(draw: st.DrawFn, message_type: type[M], *, depth: int = 4, valid: M | None = None) -> M:
    """A message of the type: made from nothing, or a copy of ``valid`` with a few fields drawn anew."""
    message = message_type()
    fields = list(message.DESCRIPTOR.fields)
    if valid is not None:
        message.CopyFrom(valid)
        fields = draw(_few_fields(message.DESCRIPTOR))
    for field in fields:
        if valid is None and not draw(_BOOLEANS):
            continue
        if valid is not None:
            message.ClearField(field.name)
        _fill(draw, message, field, depth, valid)
    return message


def _fill(draw: st.DrawFn, message: Message, field: FieldDescriptor, depth: int, valid: Message | None) -> None:
    if is_map(field):
        entries = getattr(message, field.name)
        key_field, value_field = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        for key in draw(_values(key_field, 3)):
            if value_field.message_type is None:
                entries[key] = draw(_value(value_field))
            else:
                entries[key].SetInParent()
                _fill_message(draw, entries[key], depth)
    elif is_repeated(field):
        _fill_list(draw, message, field, depth, valid)
    elif field.message_type is not None:
        if depth:
            part = getattr(message, field.name)
            part.SetInParent()
            _fill_message(draw, part, depth)
    else:
        setattr(message, field.name, draw(_value(field)))


def _fill_list(draw: st.DrawFn, message: Message, field: FieldDescriptor, depth: int, valid: Message | None) -> None:
    values = getattr(message, field.name)
    if field.message_type is None:
        values.extend(draw(_values(field, 5)))
        return
    given = list(getattr(valid, field.name)) if valid is not None else []
    for _ in range(draw(_SIZES) if depth else 0):
        part = values.add()
        if given:
            part.CopyFrom(draw(st.sampled_from(given)))
            for inner in draw(_few_fields(part.DESCRIPTOR)):
                part.ClearField(inner.name)
                _fill(draw, part, inner, depth - 1, None)
        else:
            _fill_message(draw, part, depth)


def _fill_message(draw: st.DrawFn, part: Message, depth: int) -> None:
    name = part.DESCRIPTOR.full_name
    if name in ("google.protobuf.Timestamp", "google.protobuf.Duration"):
        part.seconds = draw(_SECONDS)  # type: ignore[attr-defined]
        part.nanos = draw(_NANOS)  # type: ignore[attr-defined]
        return
    for field in part.DESCRIPTOR.fields:
        if draw(_BOOLEANS):
            _fill(draw, part, field, depth - 1, None)
