"""How bytes become a message, and a message bytes. Bad bytes are a Refusal, never an exception.

protobuf's own error texts quote their input, so none of them is passed on: messages name fields, expectations and
sizes. Rule ids: ``RULE_IDS``, and those of ``protocontract.normalize.scalar`` for values inside JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar, cast

from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import FeatureSet, FileDescriptorProto
from google.protobuf.message import Message

from protocontract.violations import Refusal, describe
from protocontract.wire_confluent import Frame, frame_of, frame_prefix, message_indexes, parse_frame
from protocontract.wire_json import RULE_IDS as _JSON_RULE_IDS
from protocontract.wire_json import JsonDecoder, repeated
from protocontract.wire_stream import read_delimited, write_delimited

__all__ = [
    "RULE_IDS",
    "Frame",
    "decode_confluent",
    "decode_json",
    "decode_protobuf",
    "encode",
    "frame_of",
    "frame_prefix",
    "json_decoder",
    "message_indexes",
    "parse_frame",
    "read_delimited",
    "unknown_fields",
    "write_delimited",
]

M = TypeVar("M", bound=Message)

RULE_IDS: Final = tuple(
    sorted({"wire.malformed", "wire.null", "wire.framing", "wire.size", "wire.truncated", *_JSON_RULE_IDS})
)
"""Every rule id that decoding can give."""


# ----------------------------------------------------------------------------------------------------------------------
# protobuf


def decode_protobuf(message_type: type[M], raw: bytes | bytearray | memoryview | None) -> M | Refusal:
    """The message in ``raw``, or a Refusal: wire.malformed, or wire.null where there are no bytes at all.

    Refused beyond what the parser refuses: text that is not UTF-8 and required fields that are missing, where the
    file's syntax lets both pass the parser.
    """
    if raw is None:
        return Refusal("wire.null", "no value; expected a message")
    if not isinstance(raw, bytes):
        if not isinstance(raw, bytearray | memoryview):
            return Refusal("wire.malformed", f"not bytes; expected a serialised message, got {describe(raw)}")
        raw = bytes(raw)
    try:
        message = message_type.FromString(raw)
    except MemoryError:
        raise
    except Exception:
        # Each back end of protobuf has its own errors (DecodeError, RecursionError, struct.error, ...), and garbage
        # from a peer must not reach the caller as an exception of whichever is installed. Bugs do not hide here: the
        # call is one function of protobuf, and what it does is all or nothing.
        return Refusal("wire.malformed", f"not a serialised {message_type.DESCRIPTOR.name}, got {describe(raw)}")
    for check in _checks(message_type.DESCRIPTOR):
        refusal = check(message)
        if refusal is not None:
            return refusal
    return message


def parser_suffices(descriptor: Descriptor) -> bool:
    """Whether ``decode_protobuf`` refuses nothing that the parser accepts: true of all that is proto3."""
    return not _checks(descriptor)


@lru_cache(maxsize=4096)
def _checks(descriptor: Descriptor) -> tuple[Callable[[Message], Refusal | None], ...]:
    """What the parser leaves unchecked in messages of this type: nothing for proto3."""
    checks: list[Callable[[Message], Refusal | None]] = []
    fields = [field for reached in _reachable(descriptor) for field in reached.fields]
    if any(_required(field) for field in fields):
        checks.append(_complete)
    if any(field.type == FieldDescriptor.TYPE_STRING and not _validates_utf8(field) for field in fields):
        checks.append(_all_text)
    return tuple(checks)


def _reachable(descriptor: Descriptor) -> list[Descriptor]:
    found = {descriptor.full_name: descriptor}
    queue = [descriptor]
    while queue:
        for field in queue.pop().fields:
            inner = field.message_type
            if inner is not None and inner.full_name not in found:
                found[inner.full_name] = inner
                queue.append(inner)
    return list(found.values())


def _validates_utf8(field: FieldDescriptor) -> bool:
    owner = field.containing_type
    if owner is None:
        return False
    file = FileDescriptorProto.FromString(owner.file.serialized_pb)
    if file.syntax != "editions":
        return file.syntax == "proto3"
    for options in (field.GetOptions(), file.options):
        declared = options.features.utf8_validation
        if declared != FeatureSet.UTF8_VALIDATION_UNKNOWN:
            return bool(declared == FeatureSet.VERIFY)
    return True  # the default of every edition so far


def _required(field: FieldDescriptor) -> bool:
    if hasattr(field, "is_required"):
        return bool(field.is_required)
    return bool(getattr(field, "label") == FieldDescriptor.LABEL_REQUIRED)  # noqa: B009  (as for ``repeated``)


def _complete(message: Message) -> Refusal | None:
    if message.IsInitialized():
        return None
    return Refusal("wire.malformed", "a required field is missing; expected all of them")


def _all_text(message: Message) -> Refusal | None:
    """Refuse bytes in a string field: upb hands out such a field as ``bytes``, others raise when it is read."""
    stack = [message]
    while stack:
        current = stack.pop()
        try:
            fields = current.ListFields()
        except UnicodeDecodeError:
            return _not_utf8()
        for field, value in fields:
            if field.type == FieldDescriptor.TYPE_STRING:
                if any(not isinstance(item, str) for item in (value if repeated(field) else (value,))):
                    return _not_utf8()
            elif (entry := field.message_type) is not None:
                if entry.GetOptions().map_entry:
                    key, inner = entry.fields
                    if key.type == FieldDescriptor.TYPE_STRING and any(not isinstance(item, str) for item in value):
                        return _not_utf8()
                    if inner.type == FieldDescriptor.TYPE_STRING:
                        if any(not isinstance(item, str) for item in value.values()):
                            return _not_utf8()
                    elif inner.message_type is not None:
                        stack.extend(value.values())
                else:
                    stack.extend(value if repeated(field) else (value,))
    return None


def _not_utf8() -> Refusal:
    return Refusal("wire.malformed", "a string field that is not UTF-8; expected text")


def unknown_fields(message: Message) -> bool:
    """Whether the message, or a message in it, holds fields that its type does not know.

    The payload of an Any is bytes and is not looked into.
    """
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return known.ByteSize() != message.ByteSize()


# ----------------------------------------------------------------------------------------------------------------------
# Confluent


def decode_confluent(message_type: type[M], raw: bytes | bytearray | memoryview | None) -> M | Refusal:
    """The message behind a schema registry's frame, or a Refusal: wire.framing, wire.malformed, wire.null.

    The frame's indexes must name the message's place in its own file.
    """
    if raw is None:
        return Refusal("wire.null", "no value; expected a message")
    if not isinstance(raw, bytes):
        if not isinstance(raw, bytearray | memoryview):
            return Refusal("wire.framing", f"not bytes; expected a framed message, got {describe(raw)}")
        raw = bytes(raw)
    descriptor: Any = message_type.DESCRIPTOR
    spelled = _spelled_indexes(descriptor)
    if raw[:1] == b"\0" and raw.startswith(spelled, 5):
        # What current serializers write, and nothing else that these bytes can mean.
        return decode_protobuf(message_type, raw[5 + len(spelled) :])
    frame = parse_frame(raw, message_indexes(descriptor))
    if isinstance(frame, Refusal):
        return frame
    return decode_protobuf(message_type, raw[frame.payload_offset :])


@lru_cache(maxsize=4096)
def _spelled_indexes(descriptor: Descriptor) -> bytes:
    """The message indexes of a type as current serializers write them."""
    return frame_prefix(descriptor, 0)[5:]


# ----------------------------------------------------------------------------------------------------------------------
# JSON


def decode_json(
    message_type: type[M],
    raw: bytes | bytearray | memoryview | str | None,
    scalars: Mapping[str, Mapping[str, Any]] | None = None,
) -> M | Refusal:
    """The message in proto3 JSON, read strictly, or a Refusal (``RULE_IDS`` and scalar.*). See ``json_decoder``."""
    decoder = _decoder(message_type, scalars or _NO_OPTIONS)
    return decoder(raw)


def json_decoder(
    message_type: type[M], scalars: Mapping[str, Mapping[str, Any]] | None = None
) -> Callable[[bytes | bytearray | memoryview | str | None], M | Refusal]:
    """A decoder of proto3 JSON for one message type, with its options bound.

    ``scalars``: what a lenient source may write, by field: the field's full name (``acme.v1.Order.paid``) or its path
    from the message (``lines.paid``; ``[]`` marks are ignored). The options are those of ``Scalar`` in contract.proto,
    and ``enum_aliases`` (other text -> number) for enum fields. Raises OptionError for wrong options or fields.
    """
    return JsonDecoder(message_type, scalars or {})


_NO_OPTIONS: Final[Mapping[str, Mapping[str, Any]]] = {}
_DECODERS: Final[dict[tuple[type[Message], int], tuple[Mapping[str, Any], JsonDecoder[Any]]]] = {}


def _decoder(message_type: type[M], scalars: Mapping[str, Mapping[str, Any]]) -> JsonDecoder[M]:
    """The decoder for these very options: generated modules pass the same constant with every record."""
    key = (message_type, id(scalars))
    found = _DECODERS.get(key)
    if found is not None and found[0] is scalars:
        return found[1]
    decoder = JsonDecoder(message_type, scalars)
    if len(_DECODERS) >= 1024:
        _DECODERS.clear()
    _DECODERS[key] = (scalars, decoder)  # holds the options too, so their id cannot be given to another object
    return decoder


# ----------------------------------------------------------------------------------------------------------------------
# Writing


def encode(message: Message, encoding: str, *, schema: int | bytes | None = None) -> bytes:
    """The message as bytes, the same bytes for equal messages. ``encoding``: protobuf, confluent or json.

    ``schema`` is the registry's id or GUID, needed for confluent. Raises ValueError for an unknown encoding, and where
    a required field is missing or JSON cannot express the message.
    """
    if encoding == "protobuf":
        return _serialised(message)
    if encoding == "confluent":
        if schema is None:
            raise ValueError("confluent needs a schema id or GUID")
        return frame_prefix(cast("Descriptor", message.DESCRIPTOR), schema) + _serialised(message)
    if encoding == "json":
        try:
            written = json_format.MessageToJson(
                message, indent=None, sort_keys=True, ensure_ascii=False, descriptor_pool=_file(message).pool
            )
        except (json_format.Error, TypeError, ValueError):
            raise ValueError("the message has no JSON form") from None  # protobuf's text quotes the value
        return written.encode()
    raise ValueError(f"unknown encoding {encoding!r}; expected protobuf, confluent or json")


def _file(message: Message) -> FileDescriptor:
    return cast("Descriptor", message.DESCRIPTOR).file


def _serialised(message: Message) -> bytes:
    if not message.IsInitialized():
        raise ValueError("a required field is missing")
    return message.SerializeToString(deterministic=True)
