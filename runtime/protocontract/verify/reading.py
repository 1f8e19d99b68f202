"""Reads records from a stream one by one: JSON lines, or protobuf messages that each follow their length.

Memory is bounded by the longest record, which is bounded too.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import BinaryIO, Final, Literal, TypeAlias

from protocontract.violations import ErrorClass, Refusal, Rule, Violation

FileEncoding: TypeAlias = Literal["json", "protobuf"]

#: A longer record is refused and skipped, in bytes. Kafka's own limits are far below.
MAX_RECORD: Final = 128 * 1024 * 1024

_CHUNK: Final = 1024 * 1024
_BY_SUFFIX: Final[dict[str, FileEncoding]] = {
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".binpb": "protobuf", ".pb": "protobuf", ".bin": "protobuf",
}  # fmt: skip


def encoding_of(name: str) -> FileEncoding | None:
    """How a file of this name is written, by its suffix; None where the suffix does not say."""
    return _BY_SUFFIX.get("." + name.rpartition(".")[2].lower()) if "." in name else None


def read_lines(stream: BinaryIO, limit: int = MAX_RECORD) -> Iterator[tuple[int, bytes | Refusal]]:
    """The records of JSON lines, each with the number of its line (from 1).

    Lines of white space only are skipped; they count as lines, not as records. A byte order mark at the start of the
    file is skipped too.
    """
    number = 0
    while True:
        line = stream.readline(limit + 1)
        if not line:
            return
        number += 1
        if len(line) > limit and not line.endswith(b"\n"):
            _skip_line(stream)
            yield number, Refusal("wire.framing", f"a line longer than {limit:,} bytes")
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        line = line.strip(b" \t\r\n")
        if line:
            yield number, line


def read_messages(stream: BinaryIO, limit: int = MAX_RECORD) -> Iterator[tuple[int, bytes | Refusal]]:
    """The records of length-delimited protobuf, each with its number (from 1).

    Where a length is no length, or reaches beyond the end of the file, the place of the next record is unknown: one
    refusal is yielded for the rest of the file. A record above ``limit`` is skipped and refused alone.
    """
    number = 0
    while True:
        number += 1
        size = _read_varint(stream)
        if size is None:
            return
        if isinstance(size, Refusal):
            yield number, size
            return
        if size > limit:
            if not _skip(stream, size):
                yield number, Refusal("wire.framing", f"the file ends inside a record of {size:,} bytes")
                return
            yield number, Refusal("wire.framing", f"a record of {size:,} bytes; expected at most {limit:,}")
            continue
        raw = _read_exactly(stream, size)
        if len(raw) < size:
            yield number, Refusal("wire.framing", f"the file ends after {len(raw):,} of a record's {size:,} bytes")
            return
        yield number, raw


def refused(contract: str, refusal: Refusal) -> Violation:
    """The violation of a record that could not even be told from its neighbours."""
    return Violation(Rule(contract, (), refusal.rule_id, refusal.message, error_class=ErrorClass("INPUT", "CODE")))


def _skip_line(stream: BinaryIO) -> None:
    while True:
        part = stream.readline(_CHUNK)
        if not part or part.endswith(b"\n"):
            return


def _read_varint(stream: BinaryIO) -> int | Refusal | None:
    """A length; None at the end of the stream."""
    value = 0
    for shift in range(0, 70, 7):
        byte = stream.read(1)
        if not byte:
            return None if shift == 0 else Refusal("wire.framing", "the file ends inside a record's length")
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    return Refusal("wire.framing", "a length of more than ten bytes: this is no length-delimited protobuf")


def _read_exactly(stream: BinaryIO, size: int) -> bytes:
    # A pipe gives what it has: read on until all is there. A wrong length must not reserve memory ahead of the data.
    if size <= _CHUNK:
        raw = stream.read(size)
        if len(raw) == size:
            return raw
    else:
        raw = b""
    buffer = io.BytesIO()
    buffer.write(raw)
    while (missing := size - buffer.tell()) > 0:
        part = stream.read(min(missing, _CHUNK))
        if not part:
            break
        buffer.write(part)
    return buffer.getvalue()


def _skip(stream: BinaryIO, size: int) -> bool:
    while size > 0:
        part = stream.read(min(size, _CHUNK))
        if not part:
            return False
        size -= len(part)
    return True
