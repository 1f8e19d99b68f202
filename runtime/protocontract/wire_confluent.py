"""The frame that Confluent's serializers put before a protobuf message.

A magic byte (0 with a 4-byte schema id, or 1 with a 16-byte schema GUID), then the path of the message in its file: a
list of indexes as varints. Current serializers write zig-zag varints and shorten the list [0] to one zero byte; older
ones wrote unsigned varints. All spellings are read; nothing is allocated by a length that the frame claims.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from protocontract.violations import Refusal, describe

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor

_ID_FRAME: Final = 0
_GUID_FRAME: Final = 1


class Frame(NamedTuple):
    """What a frame says. One of ``schema_id`` and ``schema_guid`` (16 bytes) is set."""

    schema_id: int | None
    schema_guid: bytes | None
    indexes: tuple[int, ...]
    """Path of the message in its file: place of the outermost message, then of the message nested in it."""
    payload_offset: int


def parse_frame(raw: bytes, expected: tuple[int, ...] | None = None) -> Frame | Refusal:
    """The frame at the start of ``raw``, or a Refusal (wire.framing). Bytes behind it are not looked at.

    ``expected`` is the path that the message must have. It also decides between zig-zag and unsigned varints where a
    list of indexes can be read as either; without it zig-zag wins.
    """
    if not raw:
        return _refuse("empty; expected a magic byte", raw)
    if raw[0] == _ID_FRAME:
        start = 5
    elif raw[0] == _GUID_FRAME:
        start = 17
    else:
        return _refuse("no frame of a schema registry; expected a magic byte of 0 or 1", raw)
    if len(raw) <= start:
        return _refuse("a frame that is cut off; expected a schema id and message indexes", raw)
    zig_zag = _indexes(raw, start, _signed)
    found = zig_zag
    if zig_zag is None or (expected is not None and zig_zag[0] != expected):
        unsigned = _indexes(raw, start, int)
        if unsigned is not None and (expected is None or unsigned[0] == expected):
            found = unsigned
    if found is None:
        return _refuse("message indexes that lie; expected a list that ends inside the record", raw)
    indexes, offset = found
    if expected is not None and indexes != expected:
        return _refuse("message indexes that name another message; expected the contract's own", raw)
    if raw[0] == _ID_FRAME:
        return Frame(int.from_bytes(raw[1:5], "big"), None, indexes, offset)
    return Frame(None, bytes(raw[1:17]), indexes, offset)


def frame_prefix(descriptor: Descriptor, schema: int | bytes) -> bytes:
    """The frame for a message of this type in its own file. ``schema`` and errors are those of ``frame_of``."""
    return frame_of(schema, message_indexes(descriptor))


def frame_of(schema: int | bytes, indexes: tuple[int, ...]) -> bytes:
    """The frame for a message by its indexes: ``schema`` is a registry id, or a GUID of 16 bytes.

    Raises ValueError where ``schema`` is neither.
    """
    if isinstance(schema, int):
        if isinstance(schema, bool) or not 0 <= schema < 1 << 32:
            raise ValueError("a schema id out of range; expected 0 to 2^32 - 1")
        head = b"\0" + schema.to_bytes(4, "big")
    elif len(schema) == 16:
        head = b"\1" + schema
    else:
        raise ValueError("a schema GUID of the wrong length; expected 16 bytes")
    if indexes == (0,):
        return head + b"\0"
    return head + b"".join(varint(index << 1) for index in (len(indexes), *indexes))


@lru_cache(maxsize=4096)
def message_indexes(descriptor: Descriptor) -> tuple[int, ...]:
    """The path of a message in its file, as the registry counts it: by order of declaration."""
    names: list[str] = []
    outer: Descriptor | None = descriptor
    while outer is not None:
        names.append(outer.name)
        outer = outer.containing_type
    messages = FileDescriptorProto.FromString(descriptor.file.serialized_pb).message_type
    path: list[int] = []
    for name in reversed(names):
        index = next(at for at, message in enumerate(messages) if message.name == name)
        path.append(index)
        messages = messages[index].nested_type
    return tuple(path)


def varint(number: int) -> bytes:
    """A non-negative number as a base-128 varint."""
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _indexes(raw: bytes, at: int, decode: Callable[[int], int]) -> tuple[tuple[int, ...], int] | None:
    first = _varint(raw, at)
    if first is None:
        return None
    count, at = decode(first[0]), first[1]
    if count == 0:
        return (0,), at
    if count < 0 or count > len(raw) - at:  # every index takes a byte at least
        return None
    indexes: list[int] = []
    for _ in range(count):
        item = _varint(raw, at)
        if item is None:
            return None
        index, at = decode(item[0]), item[1]
        if index < 0:
            return None
        indexes.append(index)
    return tuple(indexes), at


def _varint(raw: bytes, at: int) -> tuple[int, int] | None:
    """A varint of at most 32 bits and the place behind it; None where it is longer or cut off."""
    number = 0
    for shift in range(0, 35, 7):
        if at >= len(raw):
            return None
        byte = raw[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (number, at) if number < 1 << 32 else None
    return None


def _signed(number: int) -> int:
    return number >> 1 ^ -(number & 1)


def _refuse(what: str, raw: bytes) -> Refusal:
    return Refusal("wire.framing", f"{what}, got {describe(raw)}")
