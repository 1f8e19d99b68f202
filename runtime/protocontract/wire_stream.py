"""Streams of messages, each behind its length as a varint: what protobuf's parseDelimitedFrom reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from google.protobuf.message import Message

from protocontract.violations import Refusal
from protocontract.wire_confluent import varint

MAX_RECORD: Final = 64 << 20
"""Default bound of one record, in bytes."""

_CHUNK: Final = 1 << 20


class _Reads(Protocol):
    def read(self, size: int, /) -> bytes: ...


class _Writes(Protocol):
    def write(self, data: bytes, /) -> object: ...


def read_delimited(stream: _Reads, *, max_size: int = MAX_RECORD) -> Iterator[bytes | Refusal]:
    """The records of a stream, in order; a Refusal in the place of a record that cannot be read.

    A length that is no varint, and a tail that is cut off, end the stream (wire.truncated, wire.malformed). A record
    above ``max_size`` bytes is skipped (wire.size). ``index`` of a Refusal is the record's place. Memory follows what
    arrives, never the claimed length. Errors of the stream itself (OSError) are raised.
    """
    index = 0
    while True:
        size = _length(stream, index)
        if size is None:
            return
        if isinstance(size, Refusal):
            yield size
            return
        if size > max_size:
            yield Refusal("wire.size", f"a record of {size} bytes; expected at most {max_size}", index)
            if _skip(stream, size):
                return
        else:
            record = _read(stream, size)
            if len(record) < size:
                yield Refusal(
                    "wire.truncated",
                    f"the stream ends inside a record; expected {size} bytes, got {len(record)}",
                    index,
                )
                return
            yield record
        index += 1


def write_delimited(stream: _Writes, record: bytes | Message) -> int:
    """Append one record, given as bytes or as a message (serialised deterministically). Returns the bytes written."""
    raw = record.SerializeToString(deterministic=True) if isinstance(record, Message) else record
    data = varint(len(raw)) + raw
    stream.write(data)
    return len(data)


def _length(stream: _Reads, index: int) -> int | Refusal | None:
    number = 0
    for shift in range(0, 70, 7):
        byte = stream.read(1)
        if not byte:
            if shift == 0:
                return None
            return Refusal("wire.truncated", "the stream ends inside a length; expected a varint", index)
        number |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return number
    return Refusal("wire.malformed", "a length that is no varint; expected at most ten bytes", index)


def _read(stream: _Reads, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = stream.read(min(size, _CHUNK))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _skip(stream: _Reads, size: int) -> bool:
    """Read past ``size`` bytes without keeping them. True where the stream ends before."""
    while size > 0:
        part = stream.read(min(size, _CHUNK))
        if not part:
            return True
        size -= len(part)
    return False
