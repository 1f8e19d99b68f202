"""A guard with a registry: what it passes on, what it refuses, when it waits. In memory; the registry is real."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from protocontract import wire
from protocontract.kafka import Guard
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.errors import GuardError, RegistryError
from protocontract.kafka.forward import Forward
from protocontract.kafka.letters.reading import DeadLetter
from protocontract.kafka.memory import MemoryLog
from protocontract.kafka.registry import Registry
from protocontract.kafka.registry.contract import Subject, contract_from, sink_frame
from protocontract.kafka.registry.frames import SinkFrame
from protocontract.metrics import GuardCollector, exposition
from protocontract.violations import ContractError
from tests.kafka.test_replay import RETRY, replay
from tests.registry.support import DEAD, NAME, TOPIC, Server, contract, put, register

SINK = "clean"


def payment(number: int, note: str = "") -> bytes:
    """A good payment."""
    return bytes(contract().message_type(id=f"p{number}", note=note).SerializeToString(deterministic=True))


def new_log() -> MemoryLog:
    """A log with the three topics."""
    log = MemoryLog()
    for topic in (TOPIC, DEAD, SINK):
        log.create_topic(topic)
    return log


def new_guard(log: MemoryLog, registry: Registry, **options: Any) -> Guard[Any]:
    """A guard that ends when the topic does."""
    return Guard(
        options.pop("consumer", None) or log.consumer(TOPIC),
        contract(),
        **{"dead_letters": log.producer, "encoding": registry, "stop_at_end": True, "grace": 0.5, **options},
    )


def quick(server: Server, **options: Any) -> Registry:
    """A registry that is asked again at once."""
    return Registry(server.url, **{"backoff": (0.001, 0.002), "retries": 3, **options})


def messages(guard: Guard[Any]) -> Iterator[Any]:
    """What it delivers."""
    return (record.message for record in guard)


def rules(log: MemoryLog) -> list[bytes | None]:
    """Rules of the dead letters, in order."""
    return [dict(letter.headers)["protocontract.rule_ids"] for letter in log.records(DEAD)]


def test_each_record_by_its_own_schema(server: Server) -> None:
    mine = register(server)
    stranger = put(server, 'syntax = "proto3"; package acme.pay.v1; message Refund { string id = 1; }')
    log = new_log()
    frame = wire.frame_of(mine, (1,))
    log.append(TOPIC, frame + payment(1))
    log.append(TOPIC, wire.frame_of(stranger, (0,)) + payment(2))
    log.append(TOPIC, wire.frame_of(999_999, (1,)) + payment(3), key=b"k", headers=[("h", b"x")])
    log.append(TOPIC, payment(4))
    log.append(TOPIC, frame)  # parses, and breaks a rule
    log.append(TOPIC, None, key=b"k")
    log.append(TOPIC, payment(5, " a "), headers=[("__value_schema_id", frame)])
    with new_guard(log, quick(server)) as guard:
        found = [(message.id, message.note) for message in messages(guard)]
    assert found == [("p1", ""), ("p5", "a")]
    assert rules(log) == [b"schema.message", b"schema.unknown", b"wire.framing", b"required"]
    # The bytes are those that came; headers tell the id.
    unknown = log.records(DEAD)[1]
    assert (unknown.key, unknown.value) == (b"k", wire.frame_of(999_999, (1,)) + payment(3))
    headers = dict(unknown.headers)
    assert (headers["h"], headers["protocontract.schema"]) == (b"x", b"999999")
    assert "protocontract.schema" not in dict(log.records(DEAD)[3].headers)
    assert log.committed("group", TopicPartition(TOPIC, 0)) == 7
    stats = guard.stats
    assert (stats.consumed, stats.delivered, stats.dead_lettered, stats.tombstones, stats.open) == (7, 2, 4, 1, 0)
    assert stats.by_rule["schema.unknown"] == 1


def test_k16_an_unknown_schema_id(server: Server) -> None:
    log = new_log()
    value = b"\0" + (999_999).to_bytes(4, "big") + b"\0" + payment(1)
    log.append(TOPIC, value)
    guard = new_guard(log, quick(server, retries=2))
    collector = GuardCollector(guard)
    with guard:
        assert list(messages(guard)) == []
    (letter,) = log.records(DEAD)
    headers = dict(letter.headers)
    assert letter.value == value
    assert (headers["protocontract.rule_ids"], headers["protocontract.schema"]) == (b"schema.unknown", b"999999")
    assert log.committed("group", TopicPartition(TOPIC, 0)) == 1
    counts = [line for line in exposition(collector).decode().splitlines() if 'rule_id="schema.unknown"' in line]
    assert [line.rpartition(" ")[2] for line in counts] == ["1.0"]
    assert server.requests == 3


class Interrupted:
    """A registry whose answers fail while a guard works; the test heals it when the guard has waited a while."""

    def __init__(self, server: Server, guard: Guard[Any], after: int) -> None:
        self.seen: list[str] = []
        self._left = after
        self._server = server
        self._guard = guard
        guard._tick = self.tick

    def tick(self) -> None:
        """Called at each step of the guard."""
        if self._guard.blocked:
            self.seen.append(self._guard.blocked)
            self._left -= 1
            if self._left == 0:
                self._server.fail(0)


@pytest.mark.parametrize("fault", [{"status": 503}, {"status": 401}, {"drop": True}])
def test_an_unreachable_registry_blocks_and_loses_nothing(server: Server, fault: dict[str, Any]) -> None:
    schema_id = register(server)
    log = new_log()
    for number in range(50):
        log.append(TOPIC, wire.frame_of(schema_id, (1,)) + payment(number))
    server.fail(**fault)
    guard = new_guard(log, quick(server))
    watch = Interrupted(server, guard, after=5)
    collector = GuardCollector(guard)
    assert b"schema_registry_blocked 0.0" in exposition(collector)
    with guard:
        found = [message.id for message in messages(guard)]
    assert found == [f"p{number}" for number in range(50)]
    assert log.records(DEAD) == []
    assert len(watch.seen) >= 5
    assert watch.seen[0].startswith("the schema registry at http://127.0.0.1:")
    assert guard.blocked is None
    assert (guard.stats.consumed, guard.stats.delivered) == (50, 50)
    text = exposition(collector).decode()
    assert "schema_registry_blocked 0.0" in text
    errors = next(line for line in text.splitlines() if line.startswith("schema_registry_errors_total"))
    assert float(errors.split()[1]) >= 2
    assert "schema_registry_unknown_ids_total 0.0" in text


def test_the_metric_while_it_is_unreachable_and_giving_up(server: Server) -> None:
    log = new_log()
    log.append(TOPIC, wire.frame_of(1, (1,)) + payment(1))
    server.fail(503)
    guard = new_guard(log, quick(server), give_up_after=0.05)
    collector = GuardCollector(guard)
    with pytest.raises(RegistryError, match=r"HTTP 503.*gave up after 0\.05 s: nothing is lost"), guard:
        next(iter(guard))
    text = exposition(collector).decode()
    assert "schema_registry_blocked 1.0" in text
    assert "data_contract_blocked 1.0" in text
    assert log.committed("group", TopicPartition(TOPIC, 0)) in (None, 0)
    assert guard.stats.consumed == 0


def forwarded(log: MemoryLog, guard: Guard[Any], **options: Any) -> list[Any]:
    """What reaches the sink."""
    pump = Forward(guard, SINK, log.producer, backoff=(0.001, 0.01), **options)
    pump.run()
    guard.close()
    pump.close(1.0)
    return log.records(SINK)


def test_frames_stay_as_they_came(server: Server) -> None:
    # The writer's file has the message in another place than the contract's.
    theirs = put(
        server,
        'syntax = "proto3"; package acme.pay.v1; message A {} message B {} message Payment { string id = 1; '
        "string note = 3; }",
    )
    frame = wire.frame_of(theirs, (2,))
    log = new_log()
    log.append(TOPIC, frame + payment(1, " a "))
    log.append(TOPIC, frame + payment(2))
    log.append(TOPIC, payment(3, " b "), headers=[("__value_schema_id", frame)])
    changed, same, bare = forwarded(log, new_guard(log, quick(server)))
    assert changed.value == frame + payment(1, "a")
    assert same.value == frame + payment(2)
    assert bare.value == payment(3, "b")
    assert dict(bare.headers)["__value_schema_id"] == frame


@pytest.mark.parametrize("in_header", [False, True])
def test_a_frame_of_the_sinks_own(server: Server, in_header: bool) -> None:
    registry = quick(server)
    theirs = put(server, 'syntax = "proto3"; package acme.pay.v1; message Payment { string id = 1; string note = 3; }')
    with pytest.raises(GuardError, match="no version of subject clean-value has the fields of"):
        sink_frame(registry, contract(), "clean-value")
    frame, registered = sink_frame(registry, contract(), "clean-value", in_header=in_header, register=True)
    assert registered.version == 1
    asked = server.requests
    assert sink_frame(registry, contract(), "clean-value", in_header=in_header) == (frame, registered)
    assert server.requests > asked
    log = new_log()
    other = wire.frame_of(theirs, (0,))
    log.append(TOPIC, other + payment(1, " a "))
    log.append(TOPIC, payment(2), headers=[("__value_schema_id", other), ("a", b"b")])
    log.append(TOPIC, None, key=b"k")
    first, second, tombstone = forwarded(log, new_guard(log, registry, tombstones="deliver"), frame=frame)
    assert tombstone.value is None
    if in_header:
        assert (first.value, second.value) == (payment(1, "a"), payment(2))
        assert [name for name, _ in second.headers] == ["a", "protocontract.normalized", "__value_schema_id"]
        assert dict(first.headers)["__value_schema_id"] == frame.frame
        assert frame.frame == wire.frame_of(registered.guid or b"", (1,))
    else:
        assert (first.value, second.value) == (frame.frame + payment(1, "a"), frame.frame + payment(2))
        assert "__value_schema_id" not in dict(second.headers)
        assert frame.frame == wire.frame_of(registered.schema_id or 0, (1,))
    # And a guard behind it reads it.
    behind = MemoryLog()
    for topic in (TOPIC, DEAD):
        behind.create_topic(topic)
    behind.append(TOPIC, first.value, headers=first.headers)
    with new_guard(behind, registry) as guard:
        assert [message.note for message in messages(guard)] == ["a"]


def test_bare_sources_get_frames_too() -> None:
    log = new_log()
    log.append(TOPIC, payment(1))
    log.append(TOPIC, payment(2, " a "))
    guard = Guard(
        log.consumer(TOPIC), contract(), dead_letters=log.producer, encoding="protobuf", stop_at_end=True, grace=0.5
    )
    first, second = forwarded(log, guard, frame=SinkFrame(b"\0\0\0\0\7\2\2"))
    assert (first.value, second.value) == (b"\0\0\0\0\7\2\2" + payment(1), b"\0\0\0\0\7\2\2" + payment(2, "a"))


def test_the_newest_version_that_has_the_fields(server: Server) -> None:
    registry = quick(server)
    put(server, 'syntax = "proto3"; package acme.pay.v1; message Payment { string id = 1; }', "s")
    register(server, "s")
    put(server, 'syntax = "proto3"; package acme.pay.v1; message Payment { string id = 1; string more = 9; }', "s")
    put(server, 'syntax = "proto3"; message {', "s")
    frame, registered = sink_frame(registry, contract(), "s")
    assert registered.version == 2
    assert frame.frame == wire.frame_of(registered.schema_id or 0, (1,))


@pytest.mark.parametrize("source", [False, True], ids=["descriptor", "source"])
def test_a_contract_from_a_subject(server: Server, source: bool) -> None:
    registry = quick(server)
    register(server, source=source)
    found = contract_from(registry, Subject.of("payments-value"), NAME)
    assert found.contract.fingerprint == contract().fingerprint
    assert registry.contract("payments-value@1", NAME).fingerprint == contract().fingerprint
    assert registry.frame(contract(), "payments-value").frame == wire.frame_of(found.registered.schema_id or 0, (1,))
    assert (found.contract.version, found.contract.dead_letter_topic) == ("1.2.0", DEAD)
    assert str(found) == (
        f"acme.pay.v1.Payment 1.2.0 from payments-value version 1 (schema id {found.registered.schema_id}), "
        f"sha256 {contract().fingerprint}"
    )
    outcome = found.contract.process(payment(1, " a "))
    assert outcome.message is not None
    assert outcome.message.note == "a"
    assert found.contract.process(b"").violations[0].rule_id == "required"


def test_a_pinned_version_stays(server: Server) -> None:
    registry = quick(server)
    head = 'syntax = "proto3"; package p; import "buf/validate/validate.proto"; message M { string a = 1 '
    put(server, head + "[(buf.validate.field).string.min_len = 1]; }", "s")
    put(server, head + "[(buf.validate.field).string.min_len = 2]; }", "s")
    first = contract_from(registry, Subject.of("s@1")).contract
    latest = contract_from(registry, Subject.of("s")).contract
    assert latest.fingerprint == contract_from(registry, Subject.of("s@2")).contract.fingerprint
    assert latest.fingerprint == contract_from(registry, Subject.of("s@latest")).contract.fingerprint
    assert first.fingerprint != latest.fingerprint
    a = first.message_type(a="x")
    assert first.is_valid(a)
    assert not latest.is_valid(latest.message_type(a="x"))


def test_subjects_that_give_no_contract(server: Server) -> None:
    registry = quick(server)
    register(server)
    put(server, 'syntax = "proto3"; message {', "broken")
    put(server, 'syntax = "proto3"; enum E { Z = 0; }', "empty")
    ask: list[tuple[Callable[[], object], str]] = [
        (lambda: contract_from(registry, Subject.of("nowhere")), "has no subject nowhere"),
        (lambda: contract_from(registry, Subject.of("payments-value@7")), "no subject payments-value version 7"),
        (lambda: contract_from(registry, Subject.of("empty")), "has no message"),
        (
            lambda: contract_from(registry, Subject.of("payments-value")),
            "acme.pay.v1.Envelope, acme.pay.v1.Payment; name",
        ),
    ]
    for action, said in ask:
        with pytest.raises(GuardError, match=said):
            action()
    with pytest.raises(ContractError, match=r"broken\.proto:1:\d+: error\[proto\]"):
        contract_from(registry, Subject.of("broken"))
    with pytest.raises(ContractError, match=r"no message acme\.pay\.v1\.Other in payments-value version 1"):
        contract_from(registry, Subject.of("payments-value"), "acme.pay.v1.Other")
    server.fail(500)
    with pytest.raises(GuardError, match=r"does not answer \(HTTP 500\)"):
        contract_from(registry, Subject.of("payments-value"))
    with pytest.raises(GuardError, match=r"does not answer \(HTTP 500\)"):
        sink_frame(registry, contract(), "s")
    for text in ("", "@3", "s@0"):
        with pytest.raises(ValueError):
            Subject.of(text)
    assert Subject.of("a@b@3") == Subject("a@b", 3)
    assert Subject.of("user@example") == Subject("user@example")


def test_replays_and_inspection_keep_frames_as_they_are(server: Server, tmp_path: Path) -> None:
    log = new_log()
    log.create_topic(RETRY)
    framed = wire.frame_of(2, (1,)) + payment(1, " a ")
    log.append(TOPIC, framed, key=b"k")
    log.append(TOPIC, payment(2), headers=[("__value_schema_id", wire.frame_of(2, (1,))), ("a", None)])
    with new_guard(log, quick(server)) as guard:
        assert list(messages(guard)) == []
    assert rules(log) == [b"schema.unknown", b"schema.unknown"]
    letters = [DeadLetter(letter) for letter in log.records(DEAD)]
    assert [finding[0] for finding in letters[0].findings] == ["schema.unknown"]
    assert [letter.restored().value for letter in letters] == [framed, payment(2)]
    assert replay(log, tmp_path).replayed == 2
    first, second = log.records(RETRY)
    assert (first.key, first.value, second.value) == (b"k", framed, payment(2))
    assert dict(second.headers)["__value_schema_id"] == wire.frame_of(2, (1,))
    assert "protocontract.schema" not in dict(first.headers)
    # Registered meanwhile: they keep the contract.
    assert register(server) == 2
    with new_guard(log, quick(server), consumer=log.consumer(RETRY)) as guard:
        assert [message.id for message in messages(guard)] == ["p1", "p2"]


def test_files_that_confluents_clients_bring_themselves(server: Server) -> None:
    registry = quick(server)
    schema_id = put(
        server,
        'syntax = "proto3"; package acme.pay.v1; import "confluent/meta.proto"; import "google/type/date.proto"; '
        'import "google/protobuf/timestamp.proto"; import "buf/validate/validate.proto"; '
        'message Payment { string id = 1 [(confluent.field_meta).doc = "x", (buf.validate.field).required = true]; '
        "google.type.Date day = 7; google.protobuf.Timestamp at = 8; }",
        "s",
    )
    log = new_log()
    log.append(TOPIC, wire.frame_of(schema_id, (0,)) + payment(1))
    with new_guard(log, registry) as guard:
        assert [message.id for message in messages(guard)] == ["p1"]
    found = contract_from(registry, Subject.of("s")).contract
    assert found.process(payment(1)).ok
    assert found.process(b"").violations[0].rule_id == "required"


def test_every_metric_of_a_registry_is_documented(server: Server) -> None:
    page = (Path(__file__).parents[2] / "docs" / "registry.md").read_text()
    text = exposition(GuardCollector(new_guard(new_log(), quick(server)))).decode()
    names = {line.split()[0] for line in text.splitlines() if line.startswith("schema_registry_")}
    assert len(names) == 4
    assert {f"`{name}`" for name in names} <= set(page.split())
