"""The guard over the in-memory log."""

from __future__ import annotations

from typing import Any

import pytest

from protocontract.kafka import GuardError, ends
from protocontract.kafka.client import TopicPartition, errors, offset_to_commit
from tests.kafka.support import (
    BAD,
    CONTRACT,
    DEAD,
    GARBAGE,
    TOPIC,
    committed,
    contract,
    dead_headers,
    drain,
    good,
    new_guard,
    new_log,
    stopped,
)


def test_good_records_are_delivered_and_bad_ones_dead_lettered() -> None:
    log = new_log()
    for number in range(10):
        log.append(TOPIC, GARBAGE if number in (3, 7) else good(number), key=b"k", headers=[("trace", b"t")])
    guard = new_guard(log)
    records = drain(guard)
    assert [record.offset for record in records] == [0, 1, 2, 4, 5, 6, 8, 9]
    assert records[0].message.id == "p0"
    assert committed(log) == 10
    dead = log.records(DEAD)
    assert [record.value for record in dead] == [GARBAGE, GARBAGE]
    assert dead[0].key == b"k"
    assert dead[0].headers[0] == ("trace", b"t")
    headers = dead_headers(dead[0])
    assert headers["protocontract.topic"] == TOPIC.encode()
    assert headers["protocontract.partition"] == b"0"
    assert headers["protocontract.offset"] == b"3"
    assert headers["protocontract.contract"] == CONTRACT.full_name.encode()
    assert headers["protocontract.version"] == b"1.2.0"
    assert headers["protocontract.fingerprint"] == CONTRACT.fingerprint.encode()
    assert headers["protocontract.rule_ids"] == b"wire.malformed"
    assert headers["protocontract.group"] == b"group"
    assert headers["protocontract.client"] == b"memory"
    assert headers["protocontract.attempt"] == b"1"
    assert headers["protocontract.replays"] == b"0"
    stats = guard.stats
    assert (stats.consumed, stats.delivered, stats.dead_lettered, stats.open) == (10, 8, 2, 0)
    assert stats.compliance == 0.8
    assert stats.by_rule == {"wire.malformed": 2}
    assert str(stats) == (
        "10 read, 8 valid (80.00%), 0 normalised, 8 delivered, 2 dead-lettered, 0 open\n  wire.malformed  2"
    )


def test_all_rules_are_listed_with_their_codes() -> None:
    log = new_log()
    log.append(TOPIC, BAD)
    drain(new_guard(log))
    headers = dead_headers(log.records(DEAD)[0])
    assert headers["protocontract.rule_ids"] == b"required,int64.gte"
    assert headers["protocontract.field_paths"] == b"id,amount"
    assert headers["protocontract.violations"] == b"2"
    assert all(len(code) == 10 for code in headers["protocontract.error_codes"].split(b","))
    assert log.records(DEAD)[0].value == b""


def test_a_warning_passes_and_is_counted() -> None:
    log = new_log()
    log.append(TOPIC, good(1, note="far too long"))
    guard = new_guard(log)
    assert len(drain(guard)) == 1
    assert guard.stats.warnings == {"string.max_len": 1}


def test_changes_are_seen() -> None:
    log = new_log()
    log.append(TOPIC, good(1, note=" a "))
    (record,) = drain(new_guard(log))
    assert record.message.note == "a"
    assert record.changes[0].before == " a "


def test_a_record_of_the_same_fingerprint_is_only_validated() -> None:
    log = new_log()
    log.append(TOPIC, good(1, note=" a "), headers=[("protocontract.normalized", CONTRACT.fingerprint.encode())])
    (record,) = drain(new_guard(log))
    assert record.message.note == " a "
    assert not record.changes


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"enable_auto_commit": True}, "enable_auto_commit"),
        ({"auto_offset_reset": "latest"}, "auto_offset_reset"),
        ({"value_deserializer": bytes.decode}, "value_deserializer"),
        ({"key_deserializer": bytes.decode}, "key_deserializer"),
        ({"group_id": None}, "group_id"),
    ],
)
def test_a_consumer_that_would_lose_records_is_refused(config: dict[str, Any], named: str) -> None:
    log = new_log()
    with pytest.raises(GuardError, match=named):
        new_guard(log, log.consumer(TOPIC, **config))


def test_set_up_that_cannot_work_is_refused() -> None:
    log = new_log()
    with pytest.raises(GuardError, match="dead_letter_topic"):
        new_guard(log, contract=contract(dead_letter_topic=""))
    with pytest.raises(GuardError, match="go round"):
        new_guard(log, log.consumer(TOPIC, DEAD))
    with pytest.raises(GuardError, match="none is given for topic payments"):
        new_guard(log, contract={"refunds": CONTRACT})
    with pytest.raises(GuardError, match="encoding"):
        new_guard(log, encoding="avro")
    with pytest.raises(GuardError, match="tombstones"):
        new_guard(log, tombstones="drop")
    with pytest.raises(GuardError, match="key_field"):
        new_guard(log, contract=contract(key_field="nope"))
    with pytest.raises(GuardError, match="neither subscribed nor assigned"):
        new_guard(log, log.consumer()).start()
    with pytest.raises(GuardError, match="acks"):
        new_guard(log, dead_letters={"acks": 1})
    log.delete_topic(DEAD)
    guard = new_guard(log)
    with pytest.raises(GuardError, match=r"payments\.dead cannot be used"), guard:
        pass


def test_several_topics_each_with_its_contract() -> None:
    log = new_log()
    log.create_topic("refunds")
    other = contract(full_name="acme.Refund", dead_letter_topic="refunds.dead")
    log.create_topic("refunds.dead")
    log.append(TOPIC, GARBAGE)
    log.append("refunds", GARBAGE)
    drain(new_guard(log, log.consumer(TOPIC, "refunds"), contract={TOPIC: CONTRACT, "refunds": other}))
    assert len(log.records(DEAD)) == 1
    assert dead_headers(log.records("refunds.dead")[0])["protocontract.contract"] == b"acme.Refund"


# -- tombstones, nulls


def test_tombstones_are_skipped_by_default() -> None:
    log = new_log()
    log.append(TOPIC, None, key=b"k")
    guard = new_guard(log)
    assert drain(guard) == []
    assert guard.stats.tombstones == 1
    assert committed(log) == 1
    assert not log.records(DEAD)


def test_tombstones_are_delivered_on_request() -> None:
    log = new_log()
    log.append(TOPIC, None, key=b"k")
    guard = new_guard(log, tombstones="deliver")
    (record,) = drain(guard)
    assert record.message is None
    assert record.key == b"k"
    assert (guard.stats.tombstones, guard.stats.delivered) == (1, 0)


def test_a_keyless_record_without_value_can_be_dead_lettered() -> None:
    log = new_log()
    log.append(TOPIC, None)
    log.append(TOPIC, None, key=b"k")
    drain(new_guard(log, tombstones="reject"))
    keyless, keyed = log.records(DEAD)
    assert (keyless.key, keyless.value) == (None, b"")
    assert dead_headers(keyless)["protocontract.null"] == b"value"
    assert (keyed.key, keyed.value) == (b"k", None)
    assert "protocontract.null" not in dead_headers(keyed)
    assert committed(log) == 2


def test_null_headers_are_marked() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE, headers=[("trace", None), ("trace", b"x"), ("raw", b"\xff\xfe")])
    drain(new_guard(log))
    dead = log.records(DEAD)[0]
    assert list(dead.headers[:3]) == [("trace", b""), ("trace", b"x"), ("raw", b"\xff\xfe")]
    assert dead_headers(dead)["protocontract.null_headers"] == b"0"
    assert dead.key is None


def test_the_key_must_equal_its_field() -> None:
    log = new_log()
    log.append(TOPIC, good(1), key=b"p1")
    log.append(TOPIC, good(2), key=b"other")
    log.append(TOPIC, good(3))
    guard = new_guard(log, contract=contract(key_field="id"))
    assert [record.message.id for record in drain(guard)] == ["p1"]
    assert guard.stats.by_rule == {"key.mismatch": 2}
    headers = dead_headers(log.records(DEAD)[0])
    assert headers["protocontract.field_paths"] == b"id"
    assert b"other" not in b"".join(headers.values())


# -- finishing


def test_break_leaves_the_record_in_hand_unresolved() -> None:
    log = new_log()
    for number in range(5):
        log.append(TOPIC, good(number))
    with new_guard(log) as guard:
        for record in guard:
            if record.offset == 2:
                break
    assert committed(log) == 2
    assert [record.offset for record in drain(new_guard(log))] == [2, 3, 4]


def test_a_second_loop_begins_with_the_record_left() -> None:
    log = new_log()
    for number in range(3):
        log.append(TOPIC, good(number))
    with new_guard(log) as guard:
        for _record in guard:
            break
        assert [record.offset for record in guard] == [0, 1, 2]
    assert committed(log) == 3


def test_an_exception_leaves_the_record_in_hand_unresolved() -> None:
    log = new_log()
    for number in range(5):
        log.append(TOPIC, good(number))

    def fail_at_three() -> None:
        with new_guard(log) as guard:
            for record in guard:
                if record.offset == 3:
                    raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_at_three()
    assert committed(log) == 3


def test_done_finishes_before_the_loop_comes_back() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    with new_guard(log) as guard:
        for record in guard:
            record.done()
            break
    assert committed(log) == 1
    assert guard.stats.delivered == 1


def test_reject_dead_letters_with_the_callers_reason() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    with new_guard(log) as guard:
        for record in guard:
            record.reject("no such account")
    headers = dead_headers(log.records(DEAD)[0])
    assert headers["protocontract.rule_ids"] == b"handler.rejected"
    assert headers["protocontract.reason"] == b"no such account"
    assert (guard.stats.delivered, guard.stats.dead_lettered, guard.stats.rejected) == (0, 1, 1)
    assert committed(log) == 1


def test_stop_ends_after_the_record_in_hand() -> None:
    log = new_log()
    for number in range(5):
        log.append(TOPIC, good(number))
    with new_guard(log) as guard:
        seen = []
        for record in guard:
            seen.append(record.offset)
            if record.offset == 2:
                guard.stop()
    assert seen == [0, 1, 2]
    assert committed(log) == 3


def test_close_closes_the_consumer_unless_told_otherwise() -> None:
    log = new_log()
    consumer = log.consumer(TOPIC)
    drain(new_guard(log, consumer))
    assert consumer.closed
    kept = log.consumer(TOPIC)
    drain(new_guard(log, kept, close_consumer=False))
    assert not kept.closed


# -- run


def test_run_retries_and_stops() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    log.append(TOPIC, good(2))
    calls: list[str] = []

    def handler(message: Any) -> None:
        calls.append(message.id)
        if message.id == "p2":
            raise ValueError("boom")

    with pytest.raises(ValueError, match="boom"), new_guard(log) as guard:
        guard.run(handler, retries=2, backoff=(0.001, 0.002))
    assert calls == ["p1", "p2", "p2", "p2"]
    assert committed(log) == 1


def test_run_dead_letters_what_the_handler_cannot_do() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    log.append(TOPIC, good(2))

    def handler(message: Any) -> None:
        if message.id == "p1":
            raise KeyError("secret")

    with new_guard(log) as guard:
        guard.run(handler, retries=1, backoff=(0.001, 0.002), on_failure="dead_letter")
    headers = dead_headers(log.records(DEAD)[0])
    assert headers["protocontract.rule_ids"] == b"handler.failed"
    assert headers["protocontract.reason"] == b"KeyError"
    assert b"secret" not in b"".join(headers.values())
    assert committed(log) == 2


# -- control


def test_pause_and_resume() -> None:
    log = new_log(2)
    for number in range(40):
        log.append(TOPIC, good(number), partition=number % 2)
    with stopped(new_guard(log, stop_at_end=False)) as records:
        guard_records = [next(records) for _ in range(10)]
        tp = TopicPartition(TOPIC, 0)
        guard = guard_records[0]._guard
        guard.pause(tp)
        others = [next(records) for _ in range(20)]
        assert {record.partition for record in others} == {1}
        guard.resume(tp)
        rest = [next(records) for _ in range(10)]
    first = [record.offset for record in (*guard_records, *rest) if record.partition == 0]
    assert first == list(range(20))


def test_seek_goes_back_and_drops_what_was_fetched() -> None:
    log = new_log()
    for number in range(20):
        log.append(TOPIC, good(number))
    with stopped(new_guard(log)) as records:
        taken = [next(records) for _ in range(15)]
        guard = taken[0]._guard
        guard.seek(next(iter(guard.assignment)), 5)
        again = list(records)
    assert [record.offset for record in again] == list(range(5, 20))
    assert committed(log) == 20


def test_the_end_is_asked_for_again_where_nobody_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another member has committed is asked of the coordinator, which may be busy with a rebalance."""
    monkeypatch.setattr(ends, "_ASK_EVERY", 0.01)
    log = new_log()
    log.append(TOPIC, good(0))
    rival, consumer = log.consumer(TOPIC), log.consumer(TOPIC)
    rival.poll(0)  # the partition is its own
    known, asked = consumer.committed, list[TopicPartition]()

    def committed(tp: TopicPartition, **options: Any) -> Any:
        asked.append(tp)
        if len(asked) == 1:
            raise errors.KafkaTimeoutError
        rival.commit({tp: offset_to_commit(1)})
        return known(tp, **options)

    monkeypatch.setattr(consumer, "committed", committed)
    assert drain(new_guard(log, consumer)) == []
    assert len(asked) == 2
    rival.close()
