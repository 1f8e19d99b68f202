"""Length-delimited streams: whole, cut, and lying about lengths."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract import wire
from protocontract.violations import Refusal
from tests.examples import examples
from tests.wire.messages import First


@settings(max_examples=examples(300), derandomize=True)
@given(st.lists(st.binary(max_size=300), max_size=8), st.data())
def test_what_is_written_is_read_and_a_cut_is_told(records: list[bytes], data: st.DataObject) -> None:
    stream = io.BytesIO()
    ends = [0]
    for record in records:
        ends.append(ends[-1] + wire.write_delimited(stream, record))
    raw = stream.getvalue()
    assert list(wire.read_delimited(io.BytesIO(raw))) == records
    cut = data.draw(st.integers(0, len(raw)))
    read = list(wire.read_delimited(io.BytesIO(raw[:cut])))
    whole = sum(end <= cut for end in ends) - 1
    assert read[:whole] == records[:whole]
    if cut in ends:
        assert len(read) == whole
    else:
        (last,) = read[whole:]
        assert isinstance(last, Refusal)
        assert (last.rule_id, last.index) == ("wire.truncated", whole)


def test_messages_are_written() -> None:
    stream = io.BytesIO()
    wire.write_delimited(stream, First(id="a"))
    assert stream.getvalue() == b"\x03\x0a\x01a"


def test_a_record_above_the_limit_is_skipped() -> None:
    stream = io.BytesIO()
    for record in (b"ab", b"x" * 100, b"cd"):
        wire.write_delimited(stream, record)
    first, second, third = wire.read_delimited(io.BytesIO(stream.getvalue()), max_size=10)
    assert (first, third) == (b"ab", b"cd")
    assert isinstance(second, Refusal)
    assert (second.rule_id, second.index) == ("wire.size", 1)


class Counting(io.BytesIO):
    largest = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.largest = max(self.largest, size or 0)
        return super().read(size)


@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff\x7f", b"\xff" * 9 + b"\x01", b"\xff" * 20])
def test_lengths_that_lie_allocate_nothing(length: bytes) -> None:
    stream = Counting(length + b"abc")
    (refusal,) = wire.read_delimited(stream, max_size=1 << 62)
    assert isinstance(refusal, Refusal)
    assert stream.largest <= 1 << 20
