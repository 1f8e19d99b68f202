"""From topic to topic, over the in-memory log."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract import wire
from protocontract.kafka import GuardError, SinkError
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.forward import Forward
from protocontract.kafka.memory import MemoryLog, SendFault
from protocontract.violations import Change
from tests.kafka.support import (
    CONTRACT,
    DEAD,
    GARBAGE,
    TOPIC,
    Payment,
    committed,
    dead_headers,
    good,
    new_guard,
    new_log,
)

SINK = "clean"


def forward(log: MemoryLog, *, encoding: Any = None, **options: Any) -> Any:
    """Forward everything; the guard afterwards."""
    if SINK not in log.topics():
        log.create_topic(SINK)
    too_large = options.pop("sink_too_large", "block")
    guard = new_guard(log, tombstones="deliver", **options)
    pump = Forward(
        guard, SINK, log.producer, encoding=encoding, backoff=(0.001, 0.01), max_pending=10, too_large=too_large
    )
    try:
        pump.run()
    finally:
        guard.close()
        pump.close(1.0)
    return guard


def test_unchanged_values_pass_byte_for_byte() -> None:
    log = new_log()
    # Field 1 twice: the last one wins, and the bytes are not those that a serializer would write.
    odd = Payment(id="first").SerializeToString() + good(1)
    log.append(TOPIC, odd, key=b"k", headers=[("a", b"\xff"), ("b", None)], timestamp_ms=1_700_000_000_000)
    log.append(TOPIC, GARBAGE)
    log.append(TOPIC, None, key=b"gone")
    guard = forward(log)
    first, tombstone = log.records(SINK)
    assert (first.key, first.value, first.timestamp) == (b"k", odd, 1_700_000_000_000)
    assert list(first.headers) == [
        ("a", b"\xff"),
        ("b", b""),
        ("protocontract.null_headers", b"1"),
        ("protocontract.normalized", CONTRACT.fingerprint.encode()),
    ]
    assert (tombstone.key, tombstone.value, list(tombstone.headers)) == (b"gone", None, [])
    assert committed(log) == 3
    stats = guard.stats
    assert (stats.delivered, stats.dead_lettered, stats.tombstones, stats.open) == (1, 1, 1, 0)


def test_changed_values_are_written_in_the_sources_encoding() -> None:
    log = new_log()
    log.append(TOPIC, good(1, note=" a "))
    forward(log)
    message = Payment.FromString(log.records(SINK)[0].value)
    assert message.note == "a"

    frame = wire.frame_prefix(Payment.DESCRIPTOR, 77)
    framed = new_log()
    framed.append(TOPIC, frame + good(1, note=" a "))
    framed.append(TOPIC, frame + good(2))
    framed.append(TOPIC, good(3, note=" b "), headers=[("__value_schema_id", b"\x01" + bytes(16) + b"\0")])
    forward_encoded(framed, "confluent")
    changed, same, bare = framed.records(SINK)
    assert changed.value == frame + good(1, note="a")
    assert same.value == frame + good(2)
    assert bare.value == good(3, note="b")

    text = new_log()
    text.append(TOPIC, b'{"id": "p1", "amount": "2", "note": " a "}')
    text.append(TOPIC, b'{"id": "p1", "amount": "2"}')
    forward_encoded(text, "json")
    changed, same = text.records(SINK)
    assert b'"note": "a"' in (changed.value or b"")
    assert same.value == b'{"id": "p1", "amount": "2"}'


def forward_encoded(log: MemoryLog, source: str, sink: str | None = None) -> None:
    """Forward with a source encoding."""
    log.create_topic(SINK)
    guard = new_guard(log, tombstones="deliver", encoding=source)
    pump = Forward(guard, SINK, log.producer, encoding=sink)  # type: ignore[arg-type]
    pump.run()
    guard.close()


@pytest.mark.parametrize("header", [b"", b"\1" + bytes(16), b"\0\0\0\0\7", b"\0\0\0\0\7\2\2", b"\0\0\0\0\7\0\0", b"\2"])
@pytest.mark.parametrize("encoding", ["confluent", "headers"])
def test_a_frame_in_a_header_is_read_as_exactly_as_one_before_the_value(encoding: str, header: bytes) -> None:
    log = new_log()
    log.append(TOPIC, good(1), headers=[("__value_schema_id", header)])
    forward_encoded(log, encoding)
    assert log.records(SINK) == []
    assert dict(log.records(DEAD)[0].headers)["protocontract.rule_ids"] == b"wire.framing"
    # Who says that values are bare protobuf has no frames.
    plain = new_log()
    plain.append(TOPIC, good(1), headers=[("__value_schema_id", header)])
    forward_encoded(plain, "protobuf")
    assert plain.records(SINK)[0].value == good(1)


def test_another_encoding_for_the_sink() -> None:
    log = new_log()
    log.append(TOPIC, b'{"id": "p1", "amount": "2"}')
    forward_encoded(log, "json", "protobuf")
    assert log.records(SINK)[0].value == good(1)


def test_a_second_guard_of_the_same_contract_changes_nothing() -> None:
    log = new_log()
    log.append(TOPIC, good(1, note=" a "))
    forward(log)
    again = new_log()
    again.append(TOPIC, log.records(SINK)[0].value, headers=log.records(SINK)[0].headers)
    forward(again)
    assert list(again.records(SINK)[0].headers) == list(log.records(SINK)[0].headers)
    assert again.records(SINK)[0].value == log.records(SINK)[0].value


def test_a_keyless_tombstone_cannot_be_written_and_is_dead_lettered() -> None:
    log = new_log()
    log.append(TOPIC, None)
    forward(log)
    assert not log.records(SINK)
    assert dict(log.records(DEAD)[0].headers)["protocontract.rule_ids"] == b"wire.null"
    assert committed(log) == 1


@pytest.mark.parametrize("kind", ["raise", "fail", "lost_answer"])
def test_a_failing_sink_loses_nothing_and_keeps_the_order(kind: Any) -> None:
    log = new_log()
    for number in range(60):
        log.append(TOPIC, GARBAGE if number % 9 == 4 else good(number))
    count = 0

    def fail(topic: str, value: bytes | None) -> SendFault | None:
        nonlocal count
        if topic != SINK:
            return None
        count += 1
        return SendFault(kind) if count in (7, 23, 24, 25, 51) else None

    log.on_send = fail
    guard = forward(log)
    written = [Payment.FromString(record.value).id for record in log.records(SINK)]
    expected = [f"p{number}" for number in range(60) if number % 9 != 4]
    assert set(written) == set(expected)
    # The last copy of each stands in order: whoever keeps the newest by key or replays ends right.
    last = {name: place for place, name in enumerate(written)}
    assert [last[name] for name in expected] == sorted(last.values())
    assert committed(log) == 60
    stats = guard.stats
    # What was read again counts again, as in the sink; the books balance all the same.
    assert stats.delivered >= len(expected)
    assert stats.consumed == stats.delivered + stats.dead_lettered
    assert stats.open == 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([None, None, None, "raise", "fail", "lost_answer"]), max_size=60), st.integers(1, 3))
def test_any_failures_lose_nothing_and_keep_the_order(kinds: list[Any], partitions: int) -> None:
    log = new_log(partitions)
    for number in range(40):
        log.append(TOPIC, GARBAGE if number % 9 == 4 else good(number), partition=number % partitions)
    faults = list(kinds)

    def fail(topic: str, value: bytes | None) -> SendFault | None:
        kind = faults.pop() if faults else None
        return SendFault(kind) if kind else None

    log.on_send = fail
    guard = forward(log)
    written = [Payment.FromString(record.value or b"").id for record in log.records(SINK)]
    last = {name: place for place, name in enumerate(written)}
    for partition in range(partitions):
        mine = [f"p{number}" for number in range(partition, 40, partitions) if number % 9 != 4]
        assert [last[name] for name in mine] == sorted(last[name] for name in mine)
        assert committed(log, partition) == log.end(TopicPartition(TOPIC, partition))
    assert {record.value for record in log.records(DEAD)} == {GARBAGE}
    assert (guard.stats.open, guard.unacknowledged) == (0, 0)


def test_a_sink_that_stays_away() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    log.on_send = lambda topic, value: SendFault("fail") if topic == SINK else None
    with pytest.raises(SinkError, match="gave up"):
        forward(log, give_up_after=0.1)
    assert committed(log) is None
    log.on_send = None
    forward(log)
    assert len(log.records(SINK)) == 1
    assert committed(log) == 1


def test_a_sink_that_is_not_there() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    guard = new_guard(log)
    with pytest.raises(GuardError, match="sink: topic nowhere"):
        Forward(guard, "nowhere", log.producer).run()
    assert committed(log) is None


def test_values_that_changed_are_recorded_as_changes() -> None:
    log = new_log()
    log.append(TOPIC, good(1, note=" a "))
    guard = new_guard(log)
    with guard:
        (changes,) = [record.changes for record in guard]
    assert changes == (Change("note", "text", " a ", "a"),)


def _small_sink(log: MemoryLog) -> None:
    log.create_topic(SINK, max_message_bytes=200)


def test_a_record_that_the_sink_refuses_for_its_size_is_waited_with_by_name() -> None:
    log = new_log()
    _small_sink(log)
    for number in range(4):
        log.append(TOPIC, good(number, note="n" * (300 if number == 2 else 0)))
    with pytest.raises(SinkError, match=r"the record payments:0:2 is larger than topic clean takes"):
        forward(log, give_up_after=0.2)
    assert committed(log) == 2
    assert (len(log.records(SINK)), log.records(DEAD)) == (2, [])


def test_a_record_that_the_sink_refuses_for_its_size_is_dead_lettered_on_request() -> None:
    log = new_log()
    _small_sink(log)
    for number in range(30):
        log.append(TOPIC, good(number, note="n" * (300 if number in (7, 8, 29) else 0)))
    guard = forward(log, sink_too_large="dead_letter")
    sent = [Payment.FromString(record.value).id for record in log.records(SINK)]
    assert list(dict.fromkeys(sent)) == [f"p{number}" for number in range(30) if number not in (7, 8, 29)]
    letters = [dead_headers(record) for record in log.records(DEAD)]
    assert [letter["protocontract.offset"] for letter in letters] == [b"7", b"8", b"29"]
    assert {letter["protocontract.rule_ids"] for letter in letters} == {b"sink.too_large"}
    assert committed(log) == 30
    assert (guard.stats.delivered, guard.stats.dead_lettered) == (27, 3)
