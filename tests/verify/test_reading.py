"""Records are read one by one, whatever the file, in bounded memory."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocontract.records.reading import encoding_of, read_lines, read_messages
from protocontract.verify.command import count_stream
from protocontract.violations import Refusal
from protocontract.wire_stream import write_delimited
from tests.verify.support import LEDGER, contract


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("a.jsonl", "json"), ("a.JSON", "json"), ("a.ndjson", "json"), ("a.binpb", "protobuf"), ("a.pb", "protobuf"),
        ("jsonl", None), ("a.jsonl.gz", None), ("-", None), ("", None),
    ],
)  # fmt: skip
def test_the_suffix_says_how_records_are_written(name: str, encoding: str | None) -> None:
    assert encoding_of(name) == encoding


@given(
    st.lists(st.binary(min_size=1, max_size=20).map(lambda raw: raw.hex().encode())), st.sampled_from([b"\n", b"\r\n"])
)
def test_lines_keep_their_numbers(lines: list[bytes], end: bytes) -> None:
    spaced = [part for line in lines for part in (line, b" ")]
    found = list(read_lines(io.BytesIO(end.join(spaced))))
    assert found == [(2 * place + 1, line) for place, line in enumerate(lines)]


def test_a_line_that_is_too_long_is_skipped_alone() -> None:
    found = list(read_lines(io.BytesIO(b"1\n" + b"x" * 50 + b"\n3\n" + b"y" * 50), limit=10))
    assert [(number, raw if isinstance(raw, bytes) else raw.rule_id) for number, raw in found] == [
        (1, b"1"), (2, "wire.size"), (3, b"3"), (4, "wire.size"),
    ]  # fmt: skip


def test_a_line_of_exactly_the_limit_is_read() -> None:
    assert list(read_lines(io.BytesIO(b"1234567890\n"), limit=11)) == [(1, b"1234567890")]


@given(st.lists(st.binary(max_size=300)))
def test_messages_are_numbered(records: list[bytes]) -> None:
    stream = io.BytesIO()
    for record in records:
        write_delimited(stream, record)
    stream.seek(0)
    assert list(read_messages(stream)) == list(enumerate(records, start=1))


def test_a_cut_tail_is_one_refusal() -> None:
    found = list(read_messages(io.BytesIO(b"\x01a\x05b")))
    assert found[0] == (1, b"a")
    assert isinstance(found[1][1], Refusal)
    assert len(found) == 2


class _Lines(io.RawIOBase):
    """A file that is made as it is read."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        line = next(self._lines, b"")
        buffer[: len(line)] = line
        return len(line)


def test_memory_does_not_grow_with_the_file() -> None:
    def peak(count: int) -> int:
        lines = (b'{"debit": "%d", "credit": "0", "note": "%d"}\n' % (number % 3, number) for number in range(count))
        tracemalloc.start()
        try:
            counter = count_stream(contract(LEDGER), io.BufferedReader(_Lines(lines)), "json", None)
            assert counter.records == count
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(500)
    assert peak(8_000) < peak(1_000) * 1.5 + 100_000
