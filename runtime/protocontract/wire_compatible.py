"""Whether what one schema writes is read by another without a change of meaning.

``contradictions`` compares a writer's message with the reader's, by number, and into all messages that they hold:

- a number that both have is of one cardinality (single, list, map) and of a type that reads every value as it was
  written: the same type, or int32 as int64, uint32 as uint64 or int64, sint32 as sint64, bool as an integer, an enum as
  int32 or int64, string and bytes as each other (a string that is not UTF-8 is refused when it comes);
- a field's name that both have means one number, unless the reader reserves the writer's number: it knows then that the
  name was given anew. The same goes for the values of enums. A name that only one of them has is a rename;
- fields of one of the reader's oneofs, where the writer has two of them or more, are of one oneof there too: else all
  but the last would be lost.

Numbers that only one has contradict nothing: the reader keeps the others as unknown fields, and rules decide on what
is missing. Names of messages and enums, presence, defaults and options are not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto

from protocontract.wire_json import repeated

_F: Final = FieldDescriptor

# Type of the writer -> types that read each of its values as it is, beside the type itself.
_ALSO_READ_AS: Final[dict[int, frozenset[int]]] = {
    _F.TYPE_INT32: frozenset({_F.TYPE_INT64}),
    _F.TYPE_UINT32: frozenset({_F.TYPE_UINT64, _F.TYPE_INT64}),
    _F.TYPE_SINT32: frozenset({_F.TYPE_SINT64}),
    _F.TYPE_BOOL: frozenset({_F.TYPE_INT32, _F.TYPE_INT64, _F.TYPE_UINT32, _F.TYPE_UINT64}),
    _F.TYPE_ENUM: frozenset({_F.TYPE_INT32, _F.TYPE_INT64}),
    _F.TYPE_STRING: frozenset({_F.TYPE_BYTES}),
    _F.TYPE_BYTES: frozenset({_F.TYPE_STRING}),
}
_NAMES: Final = {
    getattr(_F, name): name.removeprefix("TYPE_").lower() for name in dir(_F) if name.startswith("TYPE_")
}  # fmt: skip


def contradictions(writer: Descriptor, reader: Descriptor) -> Iterator[str]:
    """What the reader would read differently from how the writer meant it, field by field; nothing where all agrees."""
    pairs = [(writer, reader, "")]
    seen = {(writer.full_name, reader.full_name)}
    while pairs:
        theirs, ours, path = pairs.pop()
        yield from _names(theirs, ours, path)
        yield from _oneofs(theirs, ours, path)
        for field in ours.fields:
            other = theirs.fields_by_number.get(field.number)
            if other is None:
                continue
            place = f"{path}{field.name}"
            found = _type(other, field)
            if found is not None:
                yield f"`{place}` (number {field.number}): {found}"
                continue
            if field.enum_type is not None and other.enum_type is not None:
                yield from _values(other.enum_type, field.enum_type, place)
            inner, outer = other.message_type, field.message_type
            if inner is not None and outer is not None and (inner.full_name, outer.full_name) not in seen:
                seen.add((inner.full_name, outer.full_name))
                pairs.append((inner, outer, f"{place}."))


def same(one: Descriptor, other: Descriptor) -> bool:
    """Whether two messages have the same fields, by number, name and type, into all messages that they hold."""
    pairs = [(one, other)]
    seen = {(one.full_name, other.full_name)}
    while pairs:
        left, right = pairs.pop()
        if left.full_name != right.full_name or set(left.fields_by_number) != set(right.fields_by_number):
            return False
        for field in left.fields:
            twin = right.fields_by_number[field.number]
            if field.name != twin.name or field.type != twin.type or _shape(field) != _shape(twin):
                return False
            if _values_of(field) != _values_of(twin):
                return False
            inner, outer = field.message_type, twin.message_type
            if inner is not None and outer is not None and (inner.full_name, outer.full_name) not in seen:
                seen.add((inner.full_name, outer.full_name))
                pairs.append((inner, outer))
    return True


def _type(theirs: FieldDescriptor, ours: FieldDescriptor) -> str | None:
    if _shape(theirs) != _shape(ours):
        return f"expected {_shape(ours)}, got {_shape(theirs)}"
    if ours.type == theirs.type or ours.type in _ALSO_READ_AS.get(theirs.type, ()):
        return None
    return f"expected {_NAMES[ours.type]}, got {_NAMES[theirs.type]}"


def _shape(field: FieldDescriptor) -> str:
    if not repeated(field):
        return "a single value"
    entry = field.message_type
    return "a map" if entry is not None and entry.GetOptions().map_entry else "a list"


def _names(theirs: Descriptor, ours: Descriptor, path: str) -> Iterator[str]:
    given_anew: list[range] | None = None
    for field in ours.fields:
        other = theirs.fields_by_name.get(field.name)
        if other is None or other.number == field.number:
            continue
        if given_anew is None:
            proto = DescriptorProto()
            ours.CopyToProto(proto)
            given_anew = [range(reserved.start, reserved.end) for reserved in proto.reserved_range]
        if not any(other.number in numbers for numbers in given_anew):
            yield f"`{path}{field.name}`: expected number {field.number}, got {other.number}"


def _values(theirs: EnumDescriptor, ours: EnumDescriptor, place: str) -> Iterator[str]:
    known = _numbers(theirs)
    for name, number in _numbers(ours).items():
        if known.get(name, number) != number:
            yield f"`{place}`: expected {name} to be {number}, got {known[name]}"


def _values_of(field: FieldDescriptor) -> dict[str, int] | None:
    return None if field.enum_type is None else _numbers(field.enum_type)


def _numbers(enum: EnumDescriptor) -> dict[str, int]:
    return {value.name: value.number for value in enum.values}


def _oneofs(theirs: Descriptor, ours: Descriptor, path: str) -> Iterator[str]:
    for oneof in ours.oneofs:
        written = [other for field in oneof.fields if (other := theirs.fields_by_number.get(field.number)) is not None]
        groups = {None if other.containing_oneof is None else other.containing_oneof.name for other in written}
        if len(written) > 1 and (len(groups) > 1 or None in groups):
            yield f"`{path}{oneof.name}`: expected a oneof, got fields that can all be set"
