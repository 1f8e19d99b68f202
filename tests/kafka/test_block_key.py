"""``on_reject="block_key"``: later records of a rejected one's key wait, others go on, and the order stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract import cli
from protocontract.kafka import GuardError, block_key
from protocontract.kafka.client import TopicPartition
from protocontract.kafka.memory import MemoryLog
from tests.kafka.conftest import Broker
from tests.kafka.support import DEAD, GARBAGE, TOPIC, committed, contract, drain, good, new_guard, new_log
from tests.kafka.test_broker import KEEPS_ALL, guard_process
from tests.kafka.test_replay import replay
from tests.kafka.test_skip import Asked, skip_of
from tests.kafka.transactions import make


def log_of(text: str) -> MemoryLog:
    """A record for each word: a key, and ``!`` where it is bad. ``-`` is no key, ``_`` behind it a tombstone."""
    log = new_log()
    for number, word in enumerate(text.split()):
        key = None if word[0] == "-" else word[0].encode()
        value = GARBAGE if word.endswith("!") else None if word.endswith("_") else good(number)
        log.append(TOPIC, value, key=key)
    return log


def offsets(log: MemoryLog, **options: Any) -> tuple[list[int], Any]:
    """What is delivered, and the guard."""
    guard = new_guard(log, on_reject="block_key", **options)
    return [record.offset for record in drain(guard)], guard


def test_the_key_waits_and_others_go_on() -> None:
    log = log_of("a b a! a b - a -! c")
    delivered, guard = offsets(log)
    assert delivered == [0, 1, 4, 5, 8]
    assert [record.offset for record in log.records(DEAD)] == [0, 1]
    # Nothing above the rejected record is committed: the next owner begins with it.
    assert committed(log) == 2
    counts = guard.stats
    # Two are open: those that wait.
    assert (counts.delivered, counts.dead_lettered, counts.consumed) == (5, 2, 9)


def test_what_waits_is_told() -> None:
    asked = Asked([], stop_at_end=False, on_reject="block_key")
    asked.log.append(TOPIC, GARBAGE, key=b"a")
    asked.log.append(TOPIC, good(1), key=b"a")
    said: list[str | None] = []
    idle = [0]

    def on_idle() -> None:
        idle[0] += 1
        if idle[0] > 5:
            said.append(asked.guard.waiting)
            asked.guard.stop()

    asked.consumer.on_idle = on_idle
    with asked.guard as guard:
        assert list(guard) == []
        assert guard.blocked is None
    assert said[0] == f"{TOPIC}:0: 2 records of 1 key waiting for a rejected one, the first at 0"


def test_a_replay_that_fails_frees_nothing(tmp_path: Path) -> None:
    log = log_of("a! a b a")
    assert offsets(log)[0] == [2]
    assert replay(log, tmp_path, target=None).replayed == 1
    log.append(TOPIC, good(9), key=b"a")
    # Garbage stays garbage: the replay is rejected again, and all of the key waits still.
    assert offsets(log, contract=contract(validate=lambda _: None))[0] == [2]
    assert committed(log) is None
    assert len(log.records(DEAD)) == 3


def test_order_is_kept_when_it_goes_through(tmp_path: Path) -> None:
    log = new_log()
    for key, amount in ((b"a", -1), (b"a", 1), (b"b", 2), (b"a", 3)):
        log.append(TOPIC, contract().message_type(id="p", amount=amount).SerializeToString(), key=key)
    assert offsets(log)[0] == [2]
    assert replay(log, tmp_path, target=None).replayed == 1
    log.append(TOPIC, good(5), key=b"a")
    # The process that blocks is the one that frees: 0 is rejected again by the old rule, and 4 is its replay.
    fixed: list[bool] = []

    def validate(message: Any) -> Any:
        return None if fixed or message.amount >= 0 else contract()._validate(message)  # type: ignore[misc]

    guard = new_guard(log, on_reject="block_key", contract=contract(validate=validate))
    seen = []
    with guard:
        for record in guard:
            seen.append(record.offset)
            fixed.append(True)
    assert seen == [2, 4, 1, 3, 5]
    assert [str(record.offset) for record in log.records(DEAD)] == ["0", "1"]
    assert committed(log) == 6
    counts = guard.stats
    assert (counts.consumed, counts.delivered, counts.dead_lettered) == (6, 5, 1)


def test_a_handler_that_rejects_blocks_too_and_tombstones_wait() -> None:
    log = log_of("a a_ b a")
    guard = new_guard(log, on_reject="block_key", tombstones="deliver")
    seen = []
    with guard:
        for record in guard:
            seen.append(record.offset)
            if record.offset == 0:
                record.reject("no such account")
    assert seen == [0, 2]
    assert (guard.stats.dead_lettered, guard.stats.tombstones) == (1, 0)
    assert committed(log) is None


def test_an_operator_frees_the_key() -> None:
    asked = Asked([], stop_at_end=False, on_reject="block_key")
    asked.log.append(TOPIC, GARBAGE, key=b"a")
    asked.log.append(TOPIC, good(1), key=b"a")
    skip = skip_of(0)
    assert asked.run(skip) == [1]
    assert (skip.refused, committed(asked.log)) == (None, 2)
    assert (asked.guard.stats.dead_lettered, asked.guard.stats.skipped) == (1, 0)


def test_a_span_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_key, "MAX_SPAN", 4)
    asked = Asked([], stop_at_end=False, on_reject="block_key")
    for number in range(8):
        asked.log.append(TOPIC, good(number) if number else GARBAGE, key=b"a" if number < 2 else b"b")
    skip = skip_of(0)
    # Four offsets are taken, then the partition waits as a whole, until the key is free.
    assert asked.run(skip) == [2, 3, 1, 4, 5, 6, 7]
    assert committed(asked.log) == 8


def test_a_blocked_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_key, "MAX_SPAN", 2)
    asked = Asked([], stop_at_end=False, on_reject="block_key")
    for number in range(4):
        asked.log.append(TOPIC, good(number) if number else GARBAGE, key=b"a")
    said: list[str | None] = []
    idle = [0]

    def on_idle() -> None:
        idle[0] += 1
        if idle[0] > 5:
            said.append(asked.guard.blocked)
            asked.guard.stop()

    asked.consumer.on_idle = on_idle
    with asked.guard as guard:
        assert list(guard) == []
    assert said[0] == f"{TOPIC}:0: 2 records of 1 key waiting for a rejected one, the first at 0"


def test_what_cannot_be(capsys: Any) -> None:
    with pytest.raises(GuardError, match="on_reject: expected dead_letter or block_key, got 'drop'"):
        new_guard(new_log(), on_reject="drop")
    options = ["--contract", "a.B", "--source", "s", "--sink", "t", "--dead-letter", "d", "--bootstrap-servers", "x:1"]
    from tests.kafka.transactions import NAME, PROTOS

    options[1:2] = [NAME]
    more = ["--proto-path", str(PROTOS), "--exactly-once", "--on-reject", "block_key"]
    assert cli.main(["guard", *options, *more]) == 2
    assert "--exactly-once cannot; choose one" in capsys.readouterr().err


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc-"), st.booleans()), max_size=25))
def test_order_and_books_of_any_log(words: list[tuple[str, bool]]) -> None:
    """Whatever comes: no good record of a key is delivered after a bad one of it, all others are, and books balance."""
    log = log_of(" ".join(f"{key}{'!' if bad else ''}" for key, bad in words))
    delivered, guard = offsets(log)
    blocked: set[str] = set()
    expected, first_bad, held = [], len(words), 0
    for offset, (key, bad) in enumerate(words):
        if key in blocked:
            held += 1
            continue
        if bad and key != "-":
            blocked.add(key)
            first_bad = min(first_bad, offset)
        elif not bad:
            expected.append(offset)
    assert delivered == expected
    mark = committed(log)
    assert (mark or 0) <= first_bad
    if not blocked:
        assert (mark or 0) == len(words)
    counts = guard.stats
    assert counts.consumed == counts.delivered + counts.dead_lettered + held
    # The next owner begins at the mark, and holds the same ones again.
    again, _ = offsets(log)
    assert again == [offset for offset in expected if offset >= (mark or 0)]


@pytest.mark.kafka
def test_on_a_real_broker(broker: Broker, tmp_path: Path, capsys: Any) -> None:
    import random

    from tests.kafka.test_edit import fields
    from tests.kafka.transactions import PROTOS

    source, sink, dead = broker.topic("raw"), broker.topic("clean"), broker.topic("dead", 1, **KEEPS_ALL)
    producer = broker.producer()
    key = fields().id.encode()
    other = make(random.Random(1), None)
    sent = [(key, fields(amount="1.234")), (key, fields(amount="2.00")), (key, fields(amount="3.00"))]
    for each, message in sent:
        producer.send(source, message.SerializeToString(), key=each)
    producer.send(source, other.value, key=other.key).get(10)
    producer.close()
    options = ("--exit-at-end", "--on-reject", "block_key")
    process = guard_process(broker, source, sink, dead, *options)
    _, err = process.communicate(timeout=180)
    assert process.returncode == 1, err
    assert f"not done: {source}:0: 3 records of 1 key waiting for a rejected one, the first at 0" in err
    assert [record.key for record in broker.read(sink)] == [other.key]
    group = f"protocontract.{source}.{sink}"
    assert broker.committed(source, group) in ({0: 0}, {0: None})
    command = ["dead-letter", "edit", dead, f"{source}:0:0", "--set", "amount=1.00", "--to-source", "--reason", "typo"]
    here = ["--bootstrap-servers", broker.servers, "--proto-path", str(PROTOS), "--state", str(tmp_path)]
    assert cli.main([*command, *here]) == 0
    process = guard_process(broker, source, sink, dead, *options)
    _, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    amounts = [fields().FromString(record.value).amount for record in broker.read(sink) if record.key == key]
    assert amounts == ["1.00", "2.00", "3.00"]
    assert broker.committed(source, group) == {0: 5}
    capsys.readouterr()


def test_a_partition_that_was_here_all_the_time_keeps_what_waits() -> None:
    log = log_of("a! a b a")
    consumer = log.consumer(TOPIC)
    guard = new_guard(log, consumer, on_reject="block_key", stop_at_end=False)
    seen: list[int] = []
    steps = iter(range(100))

    def on_idle() -> None:
        step = next(steps)
        tp = TopicPartition(TOPIC, 0)
        if step == 3:
            guard._source.revoked([tp])
            consumer._generation += 1
            guard._source.assigned([tp])
        if step > 8:
            guard.stop()

    consumer.on_idle = on_idle
    with guard:
        seen += [record.offset for record in guard]
    assert seen == [2]
