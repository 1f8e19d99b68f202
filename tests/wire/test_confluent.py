"""Confluent's frame: all spellings of the message's place, and lists that lie."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract import wire
from protocontract.violations import Refusal
from tests.examples import examples
from tests.wire.messages import All, First, message_class

HEAD = b"\0\0\0\0\x07"
INNERMOST: Any = message_class("wire.All.Inner.Innermost")


@pytest.mark.parametrize(
    "indexes",
    [b"\0", b"\x02\x00", b"\x01\x00", b"\x80\x00", b"\x82\x00\x00"],
    ids=["short", "long", "unsigned", "padded-short", "padded-long"],
)
def test_all_spellings_of_the_first_message(indexes: bytes) -> None:
    assert wire.decode_confluent(First, HEAD + indexes + b"\x0a\x01a") == First(id="a")


def test_nested_messages_in_both_forms() -> None:
    places = wire.message_indexes(INNERMOST.DESCRIPTOR)
    assert places[0] == 1
    zig_zag = bytes([6, *(2 * place for place in places)])
    unsigned = bytes([3, *places])
    for frame in (zig_zag, unsigned):
        assert wire.decode_confluent(INNERMOST, HEAD + frame + b"\x08\x05") == INNERMOST(x=5)
    written = wire.encode(INNERMOST(x=5), "confluent", schema=7)
    assert written == HEAD + zig_zag + b"\x08\x05"
    assert wire.parse_frame(written) == wire.Frame(7, None, places, len(HEAD) + len(zig_zag))


def test_guid_frames() -> None:
    guid = bytes(range(16))
    written = wire.encode(First(id="a"), "confluent", schema=guid)
    assert written == b"\x01" + guid + b"\0" + b"\x0a\x01a"
    assert wire.decode_confluent(First, written) == First(id="a")
    assert wire.parse_frame(written) == wire.Frame(None, guid, (0,), 18)
    for wrong in (guid[:-1], -1, 1 << 32):
        with pytest.raises(ValueError):
            wire.encode(First(), "confluent", schema=wrong)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\0",
        HEAD,
        b"\x01" + b"g" * 16,
        b"\x02" + HEAD,
        b"\x0a\x01a",
        HEAD + b"\xfe\xff\xff\xff\x0f",
        HEAD + b"\x80\x80\x80\x80\x10",
        HEAD + b"\xff" * 12,
        HEAD + b"\x08\x00",
        HEAD + b"\x02",
        HEAD + b"\x02\x02",
        HEAD + b"\x04\x00\x00",
        HEAD + b"\x80",
    ],
)
def test_frames_that_lie_are_refused(raw: bytes) -> None:
    tracemalloc.start()
    result = wire.decode_confluent(First, raw)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(result, Refusal)
    assert result.rule_id == "wire.framing"
    assert peak < 1 << 20


def test_a_bad_payload_is_malformed_not_framing() -> None:
    result = wire.decode_confluent(First, HEAD + b"\0\x0a\x05a")
    assert isinstance(result, Refusal)
    assert result.rule_id == "wire.malformed"


@settings(max_examples=examples(500), derandomize=True)
@given(st.binary(max_size=30), st.sampled_from((b"", HEAD, b"\x01" + b"g" * 16)))
def test_no_frame_crashes(raw: bytes, head: bytes) -> None:
    frame = wire.parse_frame(head + raw)
    if not isinstance(frame, Refusal):
        assert frame.payload_offset <= len(head + raw)
        assert all(index >= 0 for index in frame.indexes)
    for message_type in (First, All, INNERMOST):
        wire.decode_confluent(message_type, head + raw)
