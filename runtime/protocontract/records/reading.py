"""Reads records from a stream one by one: JSON lines, or protobuf messages that each follow their length.

Memory is bounded by the longest record, which is bounded too: a longer one is refused and skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, Literal, NamedTuple, TypeAlias

from protocontract.violations import ErrorClass, Refusal, Rule, Violation
from protocontract.wire_stream import MAX_RECORD, read_delimited

FileEncoding: TypeAlias = Literal["json", "protobuf"]


class Located(NamedTuple):
    """A record and its place in its file.

    ``offset`` and ``size`` are those of ``raw`` in bytes: neither the length before a message nor the blanks around a
    line are in it. Of a refused record they are those of all bytes that are refused.
    """

    #: The line's number in a file of JSON lines, else the record's; from 1.
    number: int
    offset: int
    size: int
    raw: bytes | Refusal


_CHUNK: Final = 1024 * 1024
_BLANK: Final = b" \t\r\n"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BY_SUFFIX: Final[dict[str, FileEncoding]] = {
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".binpb": "protobuf", ".pb": "protobuf", ".bin": "protobuf",
}  # fmt: skip
_ARROW: Final = (".parquet", ".pq", ".arrow", ".arrows", ".ipc", ".feather")


def encoding_of(name: str) -> FileEncoding | None:
    """How a file of this name is written, by its suffix; None where the suffix does not say."""
    return _BY_SUFFIX.get("." + name.rpartition(".")[2].lower()) if "." in name else None


def is_arrow(name: str) -> bool:
    """Whether a file of this name is Parquet or Arrow IPC (``arrow_source``), by its suffix."""
    return name.lower().endswith(_ARROW)


def read_lines(stream: BinaryIO, limit: int = MAX_RECORD) -> Iterator[tuple[int, bytes | Refusal]]:
    """The records of JSON lines, each with the number of its line (from 1).

    Lines of white space only are skipped; they count as lines, not as records. A byte order mark at the start of the
    file is skipped too.
    """
    return ((found.number, found.raw) for found in locate_lines(stream, limit))


def read_messages(stream: BinaryIO) -> Iterator[tuple[int, bytes | Refusal]]:
    """The records of length-delimited protobuf, each with its number (from 1).

    Where the place of the next record is unknown (a length that is none, a tail that is cut off), one refusal ends the
    file.
    """
    return enumerate(read_delimited(stream), start=1)


def locate_lines(stream: BinaryIO, limit: int = MAX_RECORD) -> Iterator[Located]:
    """The records of JSON lines as ``read_lines`` gives them, with their places."""
    number = start = 0
    while True:
        line = stream.readline(limit + 1)
        if not line:
            return
        number += 1
        offset, start = start, start + len(line)
        if len(line) > limit and not line.endswith(b"\n"):
            start += _skip_line(stream)
            refusal = Refusal("wire.size", f"a line of more than {limit} bytes; expected at most {limit}")
            yield Located(number, offset, start - offset, refusal)
            continue
        if number == 1 and line.startswith(_BYTE_ORDER_MARK):
            line = line[len(_BYTE_ORDER_MARK) :]
            offset += len(_BYTE_ORDER_MARK)
        shorter = line.lstrip(_BLANK)
        raw = shorter.rstrip(_BLANK)
        if raw:
            yield Located(number, offset + len(line) - len(shorter), len(raw), raw)


def locate_messages(stream: BinaryIO) -> Iterator[Located]:
    """The records of length-delimited protobuf as ``read_messages`` gives them, with their places in a file."""
    start = stream.tell()
    for number, raw in enumerate(read_delimited(stream), start=1):
        end = stream.tell()
        offset = start if isinstance(raw, Refusal) else end - len(raw)
        yield Located(number, offset, end - offset, raw)
        start = end


def refused(contract: str, refusal: Refusal) -> Violation:
    """The violation of a record that could not even be told from its neighbours."""
    return Violation(Rule(contract, (), refusal.rule_id, refusal.message, error_class=ErrorClass("INPUT", "CODE")))


def _skip_line(stream: BinaryIO) -> int:
    """Read past the rest of a line. Returns its length in bytes."""
    skipped = 0
    while True:
        part = stream.readline(_CHUNK)
        skipped += len(part)
        if not part or part.endswith(b"\n"):
            return skipped
