"""Frames of any bytes: they are read exactly, or refused; nothing else happens, and no registry is needed for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract import wire
from protocontract.kafka.registry.client import Reference, Registered, RegistryClient
from protocontract.kafka.registry.frames import Frames, schema_name
from protocontract.kafka.registry.schema import WriterSchema, encoded, writer_schema
from protocontract.violations import Refusal
from tests.examples import examples
from tests.registry.support import MONEY_FILE, NESTED, contract, record

if TYPE_CHECKING:
    from protocontract.kafka.registry import Registry


class _OneSchema:
    """Has the contract's own schema under every even id and GUID, and nothing else."""

    def __init__(self) -> None:
        descriptor: Any = contract().message_type.DESCRIPTOR
        files = {file.name: file for file in descriptor.file.dependencies}

        class Client:
            """Has the one import."""

            def version(self, subject: str, version: int, *, source: bool) -> Registered:
                del version, source
                return Registered(encoded(files[subject]), "PROTOBUF")

        registered = Registered(encoded(descriptor.file), "PROTOBUF", (Reference(MONEY_FILE, MONEY_FILE, 1),))
        self._schema = writer_schema(cast("RegistryClient", Client()), registered)

    def schema(self, key: int | bytes) -> WriterSchema | Refusal:
        """As a registry's."""
        last = key if isinstance(key, int) else key[-1]
        return Refusal("schema.unknown", "unknown") if last % 2 else self._schema


REGISTRY = cast("Registry", _OneSchema())
FRAMES = Frames(REGISTRY, contract(NESTED))
PATH = wire.message_indexes(contract(NESTED).message_type.DESCRIPTOR)
HEADS = st.sampled_from((b"", b"\0\0\0\0\2", b"\0\0\0\0\3", b"\1" + b"g" * 15 + b"\2", b"\0\0\0\0\2" + b"\6\0\2\2"))


@settings(max_examples=examples(1_000), derandomize=True)
@given(HEADS, st.binary(max_size=20), st.one_of(st.none(), st.binary(max_size=24)))
def test_any_bytes(head: bytes, rest: bytes, header: bytes | None) -> None:
    headers = () if header is None else (("__value_schema_id", header),)
    raw = record(head + rest, headers)
    for frames in (FRAMES, Frames(REGISTRY, contract(NESTED))):
        found = frames.split(raw)
        if isinstance(found, Refusal):
            assert found.rule_id in ("wire.framing", "schema.unknown", "schema.message")
        else:
            framed = found.payload if found.in_header else found.frame + found.payload
            assert framed == head + rest
            assert found.in_header is (header is not None)
            assert schema_name(raw) is not None


@settings(max_examples=examples(300), derandomize=True)
@given(st.binary(max_size=30), st.one_of(st.integers(0, 2**31 - 1).map(lambda n: 2 * n), st.just(b"g" * 15 + b"\2")))
def test_good_frames_with_any_payload(payload: bytes, schema: int | bytes) -> None:
    frame = wire.frame_of(schema, PATH)
    assert FRAMES(record(frame + payload)) == payload
    assert FRAMES(record(payload, (("__value_schema_id", frame),))) == payload
    for other in ((0,), (1,), (0, 1), (*PATH, 0), (9,)):
        found = FRAMES(record(wire.frame_of(schema, other) + payload))
        assert isinstance(found, Refusal)
        assert found.rule_id == "schema.message"
    for cut in range(len(frame)):
        short = FRAMES(record(payload, (("__value_schema_id", frame[:cut]),)))
        assert isinstance(short, Refusal)
