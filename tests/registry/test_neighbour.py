"""Confluent's own serializers on the other side: what they write is read here, and what is written here they read."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from protocontract import wire
from protocontract.kafka.registry import Registry
from protocontract.kafka.registry.contract import Subject, contract_from, sink_frame
from protocontract.violations import Refusal
from tests.registry.support import MONEY_FILE, NAME, NESTED, TOPIC, Server, contract, record

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer
    from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
    from confluent_kafka.serialization import MessageField, SerializationContext


@pytest.fixture
def theirs(server: Server) -> Iterator[Any]:
    """Confluent's client of the registry."""
    with SchemaRegistryClient({"url": server.url}) as client:
        yield client


def context(headers: Any = None) -> Any:
    """Of a record's value."""
    return SerializationContext(TOPIC, MessageField.VALUE, headers)


def by_topic(ctx: Any, _name: str) -> str:
    """The subject of a topic's values."""
    return f"{ctx.topic}-value"


STRATEGY: dict[str, Any] = {"subject.name.strategy": by_topic}


def example(name: str) -> Any:
    """A message."""
    kind = contract(name).message_type
    return kind(id="a", note="b", amount={"currency": "CNY", "units": 3}) if name == NAME else kind(text="a")


@pytest.mark.parametrize("name", [NAME, NESTED, "acme.pay.v1.Envelope"])
def test_what_they_write_is_read(server: Server, theirs: Any, name: str) -> None:
    message = example(name) if name != "acme.pay.v1.Envelope" else contract(name).message_type(tags={"a": "b"})
    frames = Registry(server.url).frames(contract(name))
    written = ProtobufSerializer(type(message), theirs, STRATEGY)(message, context())
    assert isinstance(written, bytes)
    payload = frames(record(written))
    assert isinstance(payload, bytes)
    assert contract(name).message_type.FromString(payload) == message
    # Without a registry, by the places in the contract's own file.
    assert contract(name).process(written, encoding="confluent").decoded == message

    # srfake's answer to a registration has no GUID, so they look it up.
    with_header = {**STRATEGY, "schema.id.serializer": header_schema_id_serializer, "auto.register.schemas": False}
    headers: list[tuple[str, bytes]] = []
    bare = ProtobufSerializer(type(message), theirs, with_header)(message, context(headers))
    assert isinstance(bare, bytes)
    assert [header for header, _ in headers] == ["__value_schema_id"]
    assert frames(record(bare, tuple(headers))) == bare


def test_another_message_of_theirs_is_told_apart(server: Server, theirs: Any) -> None:
    frames = Registry(server.url).frames(contract(NAME))
    written = ProtobufSerializer(contract(NESTED).message_type, theirs, STRATEGY)(example(NESTED), context())
    assert isinstance(written, bytes)
    found = frames(record(written))
    assert isinstance(found, Refusal)
    assert found.rule_id == "schema.message"


@pytest.mark.parametrize("name", [NAME, NESTED])
@pytest.mark.parametrize("in_header", [False, True])
def test_what_is_written_here_they_read(server: Server, theirs: Any, name: str, in_header: bool) -> None:
    frame, registered = sink_frame(
        Registry(server.url), contract(name), f"{TOPIC}-value", in_header=in_header, register=True
    )
    # The same schema as theirs: their serializer finds it where it may not register any.
    lookup = {**STRATEGY, "auto.register.schemas": False}
    written = ProtobufSerializer(type(example(name)), theirs, lookup)(example(name), context())
    assert isinstance(written, bytes)
    assert written[1:5] == (registered.schema_id or 0).to_bytes(4, "big")
    payload = wire.encode(example(name), "protobuf")
    if not in_header:
        assert written == frame.frame + payload
    read = ProtobufDeserializer(type(example(name)), {**STRATEGY, "use.deprecated.format": False}, theirs)
    value = payload if in_header else frame.frame + payload
    headers = [("__value_schema_id", frame.frame)] if in_header else []
    assert read(value, context(headers)) == example(name)
    assert MONEY_FILE in theirs.get_subjects()


def test_a_contract_from_what_they_registered(server: Server, theirs: Any) -> None:
    ProtobufSerializer(contract(NAME).message_type, theirs, STRATEGY)(example(NAME), context())
    found = contract_from(Registry(server.url), Subject(f"{TOPIC}-value"), NAME)
    assert found.contract.fingerprint == contract(NAME).fingerprint
