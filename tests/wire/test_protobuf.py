"""Bytes to messages: what is refused, in our own words, and what is never raised."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract import wire
from protocontract.violations import Refusal
from tests.examples import examples
from tests.wire.messages import All, First, Loose, Old, message_class


def nested(levels: int) -> bytes:
    message = b""
    tag = wire.encode(All(child_field=All()), "protobuf")[:-1]
    for _ in range(levels):
        message = tag + _varint(len(message)) + message
    return message


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


@pytest.mark.parametrize(
    ("message_type", "raw"),
    [
        (First, b"\x0a\x05ab"),
        (First, b"\x00"),
        (First, b"\x0c"),
        (First, b"\x0a\x02\xff\xfe"),
        (All, b"\xff" * 20),
        (First, b"\x0a\xff\xff\xff\xff\x0f"),
        (All, nested(10_000)),
        (All, b"\x0b" * 10_000),
        (All, "text"),
        (All, 5),
    ],
    ids=["cut", "zero", "end-group", "utf8", "garbage", "length", "nested", "groups", "text", "number"],
)
def test_bad_bytes_are_refused(message_type: Any, raw: Any) -> None:
    result = wire.decode_protobuf(message_type, raw)
    assert isinstance(result, Refusal)
    assert result.rule_id == "wire.malformed"
    assert "google" not in result.message
    assert "Error" not in result.message


def test_null_is_its_own_refusal() -> None:
    for result in (wire.decode_protobuf(All, None), wire.decode_confluent(All, None), wire.decode_json(All, None)):
        assert isinstance(result, Refusal)
        assert result.rule_id == "wire.null"


def test_empty_bytes_are_the_defaults() -> None:
    for raw in (b"", bytearray(), memoryview(b"")):
        assert wire.decode_protobuf(All, raw) == All()


def test_what_proto2_lets_pass_is_refused() -> None:
    missing = wire.decode_protobuf(Old, b"\x0a\x01a")
    assert missing == Refusal("wire.malformed", "a required field is missing; expected all of them")
    assert wire.decode_protobuf(Old, b"\x18\x01\x0a\x01a") == Old(needed=1, name="a")
    for raw in (b"\x18\x01\x0a\x01\xff", b"\x18\x01\x12\x01\xff", b"\x18\x01\x2a\x03\x0a\x01\xff"):
        assert isinstance(wire.decode_protobuf(Old, raw), Refusal)
    for raw in (b"\x12\x06\x0a\x01\xff\x12\x01a", b"\x12\x06\x0a\x01a\x12\x01\xff"):
        assert isinstance(wire.decode_protobuf(Loose, raw), Refusal)
    assert wire.decode_protobuf(Loose, b"\x12\x06\x0a\x01a\x12\x01b") == Loose(pairs={"a": "b"})


@pytest.mark.parametrize("name", ["strict.Text", "lax.Text"])
def test_editions_read_the_feature(name: str) -> None:
    assert isinstance(wire.decode_protobuf(message_class(name), b"\x0a\x01\xff"), Refusal)
    assert not isinstance(wire.decode_protobuf(message_class(name), b"\x0a\x01a"), Refusal)


def test_unknown_fields_are_found_at_every_depth() -> None:
    unknown = b"\xf8\x7f\x01"
    inner = wire.encode(All(string_to_all={"x": All()}), "protobuf")
    assert not wire.unknown_fields(All.FromString(inner))
    assert wire.unknown_fields(All.FromString(unknown))
    child = All.FromString(unknown)
    assert wire.unknown_fields(All(string_to_all={"x": child}))
    assert wire.unknown_fields(All(many_child=[All(), child]))


def test_encoding_is_deterministic() -> None:
    pairs = {f"k{at}": "v" for at in range(50)}
    one, two = All(string_to_string=pairs), All(string_to_string=dict(reversed(pairs.items())))
    for encoding in ("protobuf", "json"):
        assert wire.encode(one, encoding) == wire.encode(two, encoding)
    assert wire.decode_json(All, wire.encode(one, "json")) == one
    for wrong in ("xml", "confluent"):
        with pytest.raises(ValueError):
            wire.encode(one, wrong)
    with pytest.raises(ValueError, match="required"):
        wire.encode(Old(), "protobuf")


@settings(max_examples=examples(1000), derandomize=True)
@given(st.binary(max_size=60))
def test_no_bytes_crash(raw: bytes) -> None:
    for message_type in (First, All, Old, Loose):
        for result in (
            wire.decode_protobuf(message_type, raw),
            wire.decode_confluent(message_type, raw),
            wire.decode_json(message_type, raw),
        ):
            if isinstance(result, Refusal):
                assert result.rule_id.startswith("wire.")
