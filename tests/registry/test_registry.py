"""Ids, GUIDs and headers against a real registry process: what is good, whose fault the rest is, and who waits."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from protocontract import wire
from protocontract.contract import Contract
from protocontract.kafka.errors import GuardError, Later, RegistryError
from protocontract.kafka.registry.client import Missing, Reference, RegistryClient, Unreachable
from protocontract.kafka.registry.frames import Frames, schema_name
from protocontract.kafka.registry.registry import WAITED_FOR, Registry
from protocontract.violations import Refusal
from protocontract_compiler.dynamic import describe
from tests.registry.support import MONEY, NAME, NESTED, Server, contract, message, put, record, register

GOOD = b"\x0a\x01a"


class Clock:
    """Time that stands still."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def refusal(found: object) -> str:
    """The rule of a refusal."""
    assert isinstance(found, Refusal), found
    return found.rule_id


def reader(server: Server, name: str = NAME, **options: Any) -> Frames:
    """The frames of a contract, with a registry."""
    return Registry(server.url, **options).frames(contract(name))


@pytest.mark.parametrize("source", [False, True], ids=["descriptor", "source"])
def test_a_frame_of_the_contracts_schema(server: Server, source: bool) -> None:
    schema_id = register(server, source=source)
    frames = reader(server)
    framed = wire.frame_of(schema_id, (1,)) + GOOD
    assert frames(record(framed)) == GOOD
    asked = server.requests
    assert frames(record(framed + b"x")) == GOOD + b"x"
    # All spellings of the indexes, and no request for any of them.
    assert frames(record(framed[:5] + b"\x01\x01" + GOOD)) == GOOD
    assert frames(record(framed[:5] + b"\x82\x00\x02" + GOOD)) == GOOD
    assert server.requests == asked


def test_nested_messages_guids_and_headers(server: Server) -> None:
    schema_id = register(server)
    guid = RegistryClient({"url": server.url}).version("payments-value").guid
    assert guid is not None
    path = wire.message_indexes(contract(NESTED).message_type.DESCRIPTOR)
    assert len(path) == 3
    frames = reader(server, NESTED)
    for schema in (schema_id, guid):
        frame = wire.frame_of(schema, path)
        assert frames(record(frame + GOOD)) == GOOD
        assert frames(record(GOOD, (("__value_schema_id", frame),))) == GOOD
        # The first header of the name counts, the key's is another's, and a null one is none.
        assert frames(record(GOOD, (("__key_schema_id", b"x"), ("__value_schema_id", frame)))) == GOOD
        assert frames(record(frame + GOOD, (("__value_schema_id", None),))) == GOOD
        assert refusal(frames(record(GOOD, (("__value_schema_id", frame + b"\0"),)))) == "wire.framing"
        assert refusal(frames(record(GOOD, (("__value_schema_id", frame[:-1]),)))) == "wire.framing"
    assert schema_name(record(wire.frame_of(guid, path))) is not None


@pytest.mark.parametrize(
    "raw",
    [b"", b"\0", b"\0\0\0\0\1", b"\1" + b"g" * 16, b"\2\0\0\0\1\0", GOOD, b"\0\0\0\0\1\xfe\xff\xff\xff\x0f"],
)
def test_frames_that_lie_ask_for_nothing(server: Server, raw: bytes) -> None:
    assert refusal(reader(server)(record(raw))) == "wire.framing"
    assert server.requests == 0


def test_another_message_of_the_same_schema(server: Server) -> None:
    schema_id = register(server)
    frames = reader(server)
    assert refusal(frames(record(wire.frame_of(schema_id, (0,)) + GOOD))) == "schema.message"
    assert refusal(frames(record(wire.frame_of(schema_id, (7,)) + GOOD))) == "schema.message"


def test_old_varints_are_read_where_new_ones_name_nothing(server: Server) -> None:
    """Count 2, then 2 and 10; or, zig-zag, the second message and a payload that begins with field 1."""
    many = " ".join(f"message N{number} {{ string text = 1; }}" for number in range(10))
    line = "message Envelope { message Body { message Line { string text = 1; } } }"
    text = f'syntax = "proto3"; package acme.pay.v1; message A {{}} %s message C {{ {many} {line} }}'
    other = text.replace("acme.pay.v1", "p").replace("Envelope", "E")
    contract_of_e = message(other % "message B {}", "p.C.E.Body.Line")
    unsigned = b"\x04\x02\x0a\x00\x00"
    assert wire.message_indexes(contract_of_e.DESCRIPTOR) == (2, 10, 0, 0)
    mine = Contract(contract_of_e, full_name="p.C.E.Body.Line", fingerprint="0" * 64)
    frames = Registry(server.url).frames(mine)
    schema_id = put(server, other % "message B {}")
    head = wire.frame_of(schema_id, (0,))[:5]
    assert frames(record(head + unsigned + GOOD)) == GOOD
    # Zig-zag it is two indexes, 1 and 5: a message that this version of the schema has.
    six = " ".join(f"message N{number} {{}}" for number in range(6))
    nested = f"message B {{ {six} }}"
    newer = wire.frame_of(put(server, other % nested), (0,))[:5]
    assert refusal(frames(record(newer + unsigned + GOOD))) == "schema.message"
    assert frames(record(wire.frame_of(schema_id, (2, 10, 0, 0)) + GOOD)) == GOOD


def test_a_schema_without_the_message_one_that_contradicts_and_one_that_does_not(server: Server) -> None:
    head = 'syntax = "proto3"; package acme.pay.v1; '
    stranger = put(server, head + "message Refund { string id = 1; }")
    wrong = put(server, head + "message Payment { int32 id = 1; }")
    older = put(server, head + "message A {} message B {} message Payment { string id = 1; string more = 9; }")
    frames = reader(server)
    assert refusal(frames(record(wire.frame_of(stranger, (0,))))) == "schema.message"
    found = frames(record(wire.frame_of(wrong, (0,))))
    assert refusal(found) == "schema.incompatible"
    assert isinstance(found, Refusal)
    assert found.message == "the writer's schema contradicts the contract: `id` (number 1): expected string, got int32"
    # The place of the message is the writer's, not the contract's.
    assert frames(record(wire.frame_of(older, (2,)) + GOOD)) == GOOD
    assert refusal(frames(record(wire.frame_of(older, (1,)) + GOOD))) == "schema.message"


def test_what_cannot_be_used(server: Server) -> None:
    client = RegistryClient({"url": server.url})
    broken = put(server, 'syntax = "proto3"; message {')
    imports = put(server, 'syntax = "proto3"; import "nowhere.proto"; message M {}')
    binary = put(server, base64.b64encode(b"\xff\xff").decode())
    from confluent_kafka.schema_registry import Schema

    client._client.register_schema("avro", Schema('{"type": "string"}', "AVRO"))
    avro = client._client.get_latest_version("avro").schema_id or 0
    frames = reader(server)
    for schema_id in (broken, imports, binary):
        assert refusal(frames(record(wire.frame_of(schema_id, (0,))))) == "schema.unusable"
    assert refusal(frames(record(wire.frame_of(avro, (0,))))) == "schema.type"
    asked = server.requests
    assert refusal(frames(record(wire.frame_of(broken, (0,))))) == "schema.unusable"
    assert server.requests == asked


def test_an_unknown_id_is_waited_for_then_given_up_then_asked_for_again(server: Server) -> None:
    clock = Clock()
    registry = Registry(server.url, retries=3, backoff=(0.5, 1.0), unknown_for=60.0, clock=clock)
    frames = registry.frames(contract())
    raw = record(wire.frame_of(1, (1,)) + GOOD)
    for pause in (0.5, 1.0, 1.0):
        with pytest.raises(Later):
            frames(raw)
        assert registry.waiting
        assert registry.wait_seconds == pytest.approx(pause)
        asked = server.requests
        with pytest.raises(Later):
            frames(raw)
        assert server.requests == asked
        assert registry.blocked is None
        clock.now += pause
        assert not registry.waiting
    assert refusal(frames(raw)) == "schema.unknown"
    assert (registry.stats.lookups, registry.stats.unknown, registry.stats.errors) == (4, 1, 0)
    asked = server.requests
    assert refusal(frames(raw)) == "schema.unknown"
    assert server.requests == asked
    # The registry was only behind.
    client = RegistryClient({"url": server.url})
    client.register("s", 'syntax = "proto3"; package acme.pay.v1; message X {} message Payment { string id = 1; }', ())
    clock.now += 61
    assert frames(raw) == GOOD


def test_a_flood_of_unknown_ids_does_not_stop_the_line(server: Server) -> None:
    clock = Clock()
    registry = Registry(server.url, retries=3, clock=clock)
    waited = 0
    for number in range(100):
        for _ in range(10):
            try:
                found = registry.schema(1000 + number)
            except Later:
                waited += 1
                clock.now += 0.001 + registry.wait_seconds
            else:
                assert refusal(found) == "schema.unknown"
                break
    assert waited == 3 * WAITED_FOR
    assert registry.stats.unknown == 100


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 503}, {"status": 404}, {"status": 401}, {"drop": True}])
def test_a_registry_that_does_not_answer_says_nothing_about_a_record(server: Server, fault: dict[str, Any]) -> None:
    clock = Clock()
    schema_id = register(server)
    registry = Registry(server.url, backoff=(0.5, 2.0), clock=clock)
    frames = registry.frames(contract())
    raw = record(wire.frame_of(schema_id, (1,)) + GOOD)
    server.fail(**fault)
    for pause in (0.5, 1.0, 2.0, 2.0):
        with pytest.raises(Later):
            frames(raw)
        assert registry.wait_seconds == pytest.approx(pause)
        clock.now += pause
    assert registry.blocked is not None
    assert "the schema registry at http://127.0.0.1:" in registry.blocked
    registry.give_up(None)
    registry.give_up(60)
    with pytest.raises(RegistryError, match="gave up after 5 s: nothing is lost"):
        registry.give_up(5)
    server.fail(0)
    assert frames(raw) == GOOD
    assert registry.blocked is None
    assert registry.stats.errors == 4
    # What is known needs no registry.
    server.stop()
    assert frames(raw) == GOOD


def test_a_registry_that_hangs_or_is_gone(server: Server) -> None:
    registry = Registry({"url": server.url, "timeout": 0.2}, backoff=(0.0, 0.0))
    server.pause()
    with pytest.raises(Later):
        registry.schema(1)
    assert "does not answer (ReadTimeout)" in str(registry.blocked)
    server.resume()
    for _ in range(100):  # it is there again, however slow this machine is, and does not have the schema
        with pytest.raises(Later):
            registry.schema(1)
        if registry.blocked is None:
            break
    assert registry.blocked is None
    server.stop()
    with pytest.raises(Later):
        registry.schema(1)
    assert "does not answer (ConnectError)" in str(registry.blocked)
    with pytest.raises(GuardError, match=r"does not answer \(ConnectError\)"):
        registry.check()


def test_the_check_at_start(server: Server, servers_with: Callable[..., Server]) -> None:
    Registry(server.url).check()
    locked = servers_with("-authorization", "Basic " + base64.b64encode(b"guard:s3cret").decode())
    Registry({"url": locked.url, "basic.auth.user.info": "guard:s3cret"}).check()
    Registry(locked.url.replace("//", "//guard:s3cret@")).check()
    for config in (
        {"url": locked.url},
        {"url": locked.url, "basic.auth.user.info": "guard:wr0ng"},
        {"url": locked.url.replace("//", "//guard:wr0ng@")},
    ):
        with pytest.raises(GuardError, match="refuses these credentials") as caught:
            Registry(config).check()
        assert "wr0ng" not in str(caught.value)
        assert "guard" not in str(caught.value)


def test_credentials_are_in_no_log(servers_with: Callable[..., Server], caplog: pytest.LogCaptureFixture) -> None:
    locked = servers_with("-authorization", "Basic " + base64.b64encode(b"guard:s3/cret").decode())
    with caplog.at_level(0):
        registry = Registry(locked.url.replace("//", "//guard:s3%2Fcret@"))
        registry.check()
        with pytest.raises(Later):
            registry.schema(1)
    assert "schemas/ids/1" in caplog.text
    assert "cret" not in caplog.text
    assert base64.b64encode(b"guard:s3/cret").decode() not in caplog.text


def test_bearer_tokens(servers_with: Callable[..., Server]) -> None:
    locked = servers_with("-authorization", "Bearer t0ken")
    bearer = {
        "bearer.auth.credentials.source": "STATIC_TOKEN",
        "bearer.auth.token": "t0ken",
        "bearer.auth.logical.cluster": "lsrc-1",
        "bearer.auth.identity.pool.id": "pool-1",
    }
    Registry({"url": locked.url, **bearer}).check()
    with pytest.raises(GuardError, match="refuses these credentials"):
        Registry({"url": locked.url, **bearer, "bearer.auth.token": "0ther"}).check()


def test_tls(servers_with: Callable[..., Server], tmp_path: Any) -> None:
    certificate = tmp_path / "ca.pem"
    server = servers_with("-certificate", certificate)
    assert server.url.startswith("https://")
    Registry({"url": server.url, "ssl.ca.location": str(certificate)}).check()
    with pytest.raises(GuardError, match="does not answer"):
        Registry({"url": server.url}).check()
    with pytest.raises(GuardError, match=r"ssl\.ca\.location cannot be read"):
        Registry({"url": server.url, "ssl.ca.location": str(tmp_path / "nowhere.pem")})


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("registry:8081", "not a URL"),
        ("", "not a URL"),
        ("http://", "not a URL"),
        ("mock://x", "not a URL"),
        ("http://a,ftp://b", "not a URL"),
        ({}, "not a URL"),
        ({"url": "http://a", "basic.auth.user.info": "s3cret"}, "USER:PASSWORD"),
        ({"url": "http://a", "max.poll.s3cret": 1}, "unrecognized properties: max.poll.s3cret"),
        (
            {"url": "http://u:s3cret@a", "basic.auth.user.info": "u:s3cret"},
            "in its address and in basic.auth.user.info",
        ),
        ({"url": "http://a", "cache.capacity": "s3cret"}, "refused: TypeError"),
    ],
)
def test_configurations_that_are_refused(config: Any, said: str) -> None:
    with pytest.raises(GuardError, match=said) as caught:
        Registry(config)
    assert "s3cret" not in str(caught.value).replace("max.poll.s3cret", "")


def test_addresses_are_shown_without_credentials() -> None:
    assert Registry("https://u:s3cret@r.example:8081/base/, http://b").place == "https://r.example:8081/base,http://b"


def test_the_client_tells_missing_from_unreachable(server: Server) -> None:
    client = RegistryClient({"url": server.url})
    for ask in (
        lambda: client.by_id(9),
        lambda: client.by_guid(b"g" * 16),
        lambda: client.version("nowhere"),
        lambda: client.version("nowhere", 3),
        lambda: client.versions("nowhere"),
        lambda: client.lookup("nowhere", MONEY, ()),
    ):
        with pytest.raises(Missing):
            ask()
    server.fail(502)
    with pytest.raises(Unreachable, match=r"^HTTP 502$"):
        client.by_id(1)


def test_many_schemas_are_kept_in_bounds(server: Server) -> None:
    ids = [put(server, f'syntax = "proto3"; message M{number} {{}}', f"s{number}") for number in range(5)]
    registry = Registry(server.url, max_schemas=3)
    for schema_id in ids:
        registry.schema(schema_id)
    asked = server.requests
    registry.schema(ids[-1])
    registry.schema(ids[2])
    assert server.requests == asked
    registry.schema(ids[0])
    assert server.requests == asked + 1


def test_a_contract_of_the_same_name_in_another_package_is_another(server: Server) -> None:
    other = put(server, 'syntax = "proto3"; package elsewhere; message Payment { string id = 1; }')
    assert refusal(reader(server)(record(wire.frame_of(other, (0,)) + GOOD))) == "schema.message"


@pytest.mark.parametrize("source", [False, True], ids=["descriptor", "source"])
def test_references_of_references_and_public_imports(server: Server, source: bool) -> None:
    texts = {
        "deep/a.proto": 'syntax = "proto3"; package deep; message A { int64 x = 1; }',
        "deep/b.proto": 'syntax = "proto3"; package deep; import "buf/validate/validate.proto"; '
        'import public "deep/a.proto"; message B { A a = 1; string s = 2 [(buf.validate.field).string.min_len = 1]; }',
        "main.proto": 'syntax = "proto3"; package acme.pay.v1; import "deep/b.proto"; '
        "message Payment { string id = 1; deep.A a = 11; deep.B b = 12; }",
    }
    files = {file.name: base64.b64encode(file.SerializeToString()).decode() for file in describe(texts).file}
    client = RegistryClient({"url": server.url})
    before: tuple[Reference, ...] = ()
    for name, text in texts.items():
        client.register(name, text if source else files[name], before)
        before = (Reference(name, name, 1),)
    schema_id = client.version("main.proto").schema_id or 0
    assert reader(server)(record(wire.frame_of(schema_id, (0,)) + GOOD)) == GOOD
    assert (
        Registry(server.url).contract("main.proto").process(GOOD + b"\x62\x00").violations[0].rule_id
        == "string.min_len"
    )


def test_descriptors_as_confluents_server_gives_them(server: Server) -> None:
    """Its file has no name of its own, types may be relative, and a field with a type's name need not say its kind."""
    file = FileDescriptorProto(name="default", package="acme.pay.v1", syntax="proto3")
    kind = file.enum_type.add(name="Kind")
    kind.value.add(name="KIND_UNSPECIFIED", number=0)
    file.message_type.add(name="Money").field.add(name="currency", number=1, type="TYPE_STRING", label="LABEL_OPTIONAL")
    payment = file.message_type.add(name="Payment")
    payment.field.add(name="id", number=1, type="TYPE_STRING", label="LABEL_OPTIONAL")
    payment.field.add(name="amount", number=2, type_name="Money", label="LABEL_OPTIONAL")
    payment.field.add(name="kind", number=4, type_name=".acme.pay.v1.Kind", label="LABEL_OPTIONAL")
    schema_id = put(server, base64.b64encode(file.SerializeToString()).decode())
    assert reader(server)(record(wire.frame_of(schema_id, (1,)) + GOOD)) == GOOD
    found = Registry(server.url).contract("other", NAME)
    assert found.process(GOOD).ok
