"""Changing one record by hand: its text for an editor, single fields by their paths, and what is different after.

Nothing that is refused here quotes a value: refusals name fields, places and expectations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from protocontract import wire
from protocontract.cli import UsageError
from protocontract.violations import Refusal
from protocontract.wire_json import repeated

if TYPE_CHECKING:
    from protocontract.contract import Contract, Encoding

M = TypeVar("M", bound=Message)

#: One step of a path: a name, and where a list or a map is meant its place or key: ``lines[0]``, ``labels["a b"]``.
_STEP: Final = re.compile(r'([A-Za-z_][A-Za-z0-9_]*)(?:\[([0-9]+|-[0-9]+|true|false|"(?:[^"\\]|\\.)*")\])?(\.|$)')
#: What stands in a text for the value of a sensitive field. It may be moved or removed; where it is, the value is.
_HIDDEN: Final = "(sensitive value {})"
_MARK: Final = re.compile(r'"\(sensitive value ([0-9]{1,9})\)"')
_WELL_KNOWN: Final = "google.protobuf."


class Difference(NamedTuple):
    """One field that a change touches. ``before`` or ``after`` is None where the field is not there."""

    path: str
    #: The same without keys of maps, for headers and logs.
    redacted_path: str
    before: Any
    after: Any
    sensitive: bool


# ----------------------------------------------------------------------------------------------------------------------
# As text


def decode(contract: Contract[M], raw: bytes | None, encoding: Encoding) -> M | Refusal:
    """The message in a record's value, as it was written: nothing is normalised."""
    if encoding == "confluent":
        return wire.decode_confluent(contract.message_type, raw)
    if encoding == "json":
        return wire.decode_json(contract.message_type, raw, contract.scalars)
    return wire.decode_protobuf(contract.message_type, raw)


def encode(message: Message, encoding: Encoding, before: bytes | None) -> bytes:
    """The message as a record's value. A frame stays that of the value before. Raises UsageError."""
    try:
        if encoding != "confluent":
            return wire.encode(message, encoding)
        frame = wire.parse_frame(before or b"", wire.message_indexes(message.DESCRIPTOR))
        if isinstance(frame, Refusal) or before is None:
            raise UsageError("the record's frame cannot be read, so it cannot be kept; give the whole value: --value")
        return before[: frame.payload_offset] + wire.encode(message, "protobuf")
    except ValueError as error:
        raise UsageError(f"the record cannot be written: {error}") from None


def to_text(message: Message, contract: Contract[Any], *, show_sensitive: bool = False) -> tuple[str, list[str]]:
    """The message as indented proto JSON, and the JSON of the sensitive values that marks stand for in it.

    Raises UsageError for a message that JSON cannot express.
    """
    descriptor: Any = message.DESCRIPTOR
    try:
        held = json_format.MessageToDict(
            message, preserving_proto_field_name=True, descriptor_pool=descriptor.file.pool
        )
    except (json_format.Error, TypeError, ValueError):
        # Its text quotes the value.
        raise UsageError("the record has no JSON form; change it with --set and --clear, or give --value") from None
    hidden: list[str] = []
    if not show_sensitive and contract.sensitive:
        _hide(descriptor, held, "", contract.sensitive, hidden)
    return json.dumps(held, ensure_ascii=False, indent=2) + "\n", hidden


def from_text(text: str, contract: Contract[M], hidden: list[str]) -> M:
    """The message in a text that ``to_text`` wrote and somebody changed. Raises UsageError that says what is wrong."""
    for mark in _MARK.finditer(text):
        if not 0 < int(mark[1]) <= len(hidden):
            raise UsageError(f"{mark[0][1:-1]} stands for no value of this record; write the value")
    for number, value in enumerate(hidden, start=1):
        text = text.replace(json.dumps(_HIDDEN.format(number)), value)
    found = wire.decode_json(contract.message_type, text)
    if isinstance(found, Refusal):
        raise UsageError(f"the text is no {contract.message_type.DESCRIPTOR.name}: {_told(found)}")
    return found


def _hide(descriptor: Descriptor, held: Any, prefix: str, sensitive: frozenset[str], hidden: list[str]) -> None:
    if not isinstance(held, dict) or descriptor.full_name.startswith(_WELL_KNOWN):
        return
    for name, value in held.items():
        field = descriptor.fields_by_name.get(name)
        if field is None:
            continue
        path = prefix + name
        if path in sensitive:
            hidden.append(json.dumps(value, ensure_ascii=False))
            held[name] = _HIDDEN.format(len(hidden))
            continue
        inner: Any = field.message_type
        if inner is None:
            continue
        each: list[Any] = value if repeated(field) else [value]
        if inner.GetOptions().map_entry:
            inner = inner.fields_by_name["value"].message_type
            each = list(value.values())
        if inner is None:
            continue
        for item in each:
            _hide(inner, item, f"{path}.", sensitive, hidden)


def keep_unknown(before: M, after: M) -> M:
    """``after`` with the fields of ``before`` that the type does not know: a text has none of them.

    Raises UsageError where there are some in messages in it, whose place a text does not tell.
    """
    if not wire.unknown_fields(before):
        return after
    whole = type(before)()
    whole.CopyFrom(before)
    for field, _ in before.ListFields():
        whole.ClearField(field.name)
    whole.MergeFrom(after)
    if _unknown_size(whole) != _unknown_size(before):
        raise UsageError(
            "the record holds fields that the contract does not know, which a text would lose; change it with --set "
            "and --clear, or give the whole value: --value"
        )
    return whole


def _unknown_size(message: Message) -> int:
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return message.ByteSize() - known.ByteSize()


# ----------------------------------------------------------------------------------------------------------------------
# Single fields


def set_field(message: Message, path: str, text: str) -> None:
    """Set a field by its path: ``amount``, ``lines[0].amount``, ``labels["a b"]``. Raises UsageError.

    Text fields take the text as it is, all others what JSON would hold; names of enum values need no quotes.
    """
    holder, field, subscript = _place(message, path)
    name = field.name
    value = _json_of(field, text, whole=subscript is None)
    entry = _map_entry(field)
    if entry is not None and subscript is not None:
        value = f"{{{json.dumps(str(subscript))}: {value}}}"
    elif subscript is not None:
        value = f"[{value}]"
    read = wire.decode_json(type(holder), f"{{{json.dumps(name)}: {value}}}")
    if isinstance(read, Refusal):
        raise UsageError(f"--set {path}: {_told(read)}")
    if subscript is None:
        holder.ClearField(name)
        holder.MergeFrom(read)
    elif entry is not None:
        (key,) = getattr(read, name)
        if entry.fields_by_name["value"].message_type is not None:
            getattr(holder, name)[key].CopyFrom(getattr(read, name)[key])
        else:
            getattr(holder, name)[key] = getattr(read, name)[key]
    else:
        items, (item,) = getattr(holder, name), getattr(read, name)
        if field.message_type is not None:
            items[subscript].CopyFrom(item)
        else:
            items[subscript] = item


def clear_field(message: Message, path: str) -> None:
    """Take a field, an element or an entry away. Raises UsageError."""
    holder, field, subscript = _place(message, path)
    if subscript is None:
        holder.ClearField(field.name)
    else:
        del getattr(holder, field.name)[subscript]


def _place(message: Message, path: str) -> tuple[Message, FieldDescriptor, Any]:
    """The message that holds a path's last field, that field, and the place in it that is meant, if one is."""
    holder, start = message, 0
    while True:
        step = _STEP.match(path, start)
        if step is None:
            raise UsageError(f'`{path}` is no path of a field; expected amount, lines[0].price or tags["a"]')
        name, marked, more = step[1], step[2], step[3]
        field: Any = holder.DESCRIPTOR.fields_by_name.get(name)
        if field is None:
            raise UsageError(f"{path}: {holder.DESCRIPTOR.full_name} has no field {name}")
        subscript = _subscript(holder, field, marked, path, last=not more)
        if not more:
            return holder, field, subscript
        inner = getattr(holder, name)
        if subscript is not None:
            inner = inner[subscript]
        if not isinstance(inner, Message):
            raise UsageError(f"{path}: {name} is no message; expected the name of its field alone")
        holder, start = inner, step.end()


def _subscript(holder: Message, field: FieldDescriptor, marked: str | None, path: str, *, last: bool) -> Any:
    entry = _map_entry(field)
    if marked is None:
        if not last and (entry is not None or repeated(field)):
            raise UsageError(f"{path}: {field.name} holds several; say which: {field.name}[0]")
        return None
    held = getattr(holder, field.name)
    if entry is not None:
        text = entry.fields_by_name["key"].type == FieldDescriptor.TYPE_STRING
        key = json.loads(marked)
        if isinstance(key, str) != text:
            raise UsageError(f"{path}: keys of {field.name} are {'texts, in quotes' if text else 'no texts'}")
        if key not in held and not last:
            raise UsageError(f"{path}: there is no such entry")
        return key
    if not repeated(field):
        raise UsageError(f"{path}: {field.name} holds one value; leave the brackets out")
    if not marked.isdigit() or int(marked) >= len(held):
        raise UsageError(f"{path}: there is no such element; {field.name} has {len(held)}, counted from 0")
    return int(marked)


def _json_of(field: FieldDescriptor, text: str, *, whole: bool) -> str:
    """The text of an option as JSON."""
    several = whole and repeated(field)
    if not several and field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
        return json.dumps(text)
    try:
        json.loads(text)
    except ValueError:
        # A name of an enum's value, a moment, or nothing that fits: the reader says which.
        return json.dumps(text)
    return text


def _map_entry(field: FieldDescriptor) -> Descriptor | None:
    entry = field.message_type
    return entry if entry is not None and entry.GetOptions().map_entry else None


def _told(refusal: Refusal) -> str:
    return f"{refusal.message} ({refusal.rule_id})"


# ----------------------------------------------------------------------------------------------------------------------
# What is different


def differences(before: Message, after: Message, sensitive: frozenset[str]) -> list[Difference]:
    """The fields in which two messages of one type differ, in the order of their numbers."""
    return list(_differences(before, after, ("", "", ""), sensitive, hidden=False))


def _differences(
    before: Message, after: Message, prefixes: tuple[str, str, str], sensitive: frozenset[str], *, hidden: bool
) -> Iterator[Difference]:
    fields = {field.number: field for side in (before, after) for field, _ in side.ListFields()}
    for _, field in sorted(fields.items()):
        # As shown, without keys of maps, and without any subscript.
        shown, redacted, plain = (prefix + field.name for prefix in prefixes)
        secret = hidden or plain in sensitive
        one, other = getattr(before, field.name), getattr(after, field.name)
        pairs: list[tuple[str, str, Any, Any]]
        if _map_entry(field) is not None:
            keys = sorted({*one, *other})
            pairs = [
                (
                    f"{shown}[{'*' if secret else json.dumps(key, ensure_ascii=False)}]",
                    f"{redacted}[*]",
                    one.get(key),
                    other.get(key),
                )
                for key in keys
            ]
        elif repeated(field):
            pairs = [
                (
                    f"{shown}[{place}]",
                    f"{redacted}[{place}]",
                    one[place] if place < len(one) else None,
                    other[place] if place < len(other) else None,
                )
                for place in range(max(len(one), len(other)))
            ]
        else:
            pairs = [
                (
                    shown,
                    redacted,
                    one if not field.has_presence or before.HasField(field.name) else None,
                    other if not field.has_presence or after.HasField(field.name) else None,
                )
            ]
        for path, without_keys, left, right in pairs:
            if isinstance(left, Message) and isinstance(right, Message):
                below = (f"{path}.", f"{without_keys}.", f"{plain}.")
                yield from _differences(left, right, below, sensitive, hidden=secret)
            elif left != right and not (left is not None and left != left and right != right):
                yield Difference(path, without_keys, left, right, secret)
