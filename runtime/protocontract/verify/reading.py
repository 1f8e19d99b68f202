"""Reads records from a stream one by one: JSON lines, or protobuf messages that each follow their length.

Memory is bounded by the longest record, which is bounded too: a longer one is refused and skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, Literal, TypeAlias

from protocontract.violations import ErrorClass, Refusal, Rule, Violation
from protocontract.wire_stream import MAX_RECORD, read_delimited

FileEncoding: TypeAlias = Literal["json", "protobuf"]

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
            yield number, Refusal("wire.size", f"a line of more than {limit} bytes; expected at most {limit}")
            continue
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        line = line.strip(b" \t\r\n")
        if line:
            yield number, line


def read_messages(stream: BinaryIO) -> Iterator[tuple[int, bytes | Refusal]]:
    """The records of length-delimited protobuf, each with its number (from 1).

    Where the place of the next record is unknown (a length that is none, a tail that is cut off), one refusal ends the
    file.
    """
    return enumerate(read_delimited(stream), start=1)


def refused(contract: str, refusal: Refusal) -> Violation:
    """The violation of a record that could not even be told from its neighbours."""
    return Violation(Rule(contract, (), refusal.rule_id, refusal.message, error_class=ErrorClass("INPUT", "CODE")))


def _skip_line(stream: BinaryIO) -> None:
    while True:
        part = stream.readline(_CHUNK)
        if not part or part.endswith(b"\n"):
            return
