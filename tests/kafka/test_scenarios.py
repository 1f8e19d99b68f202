"""The failure scenarios of tests/cases/kafka.json, one function each, against the in-memory log.

A scenario that is not here is named in LATER with the reason: nothing is left out silently.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocontract import wire
from protocontract.kafka import DeadLetterError, GuardError, SourceError
from protocontract.kafka.client import TopicPartition, errors
from protocontract.kafka.memory import SendFault
from tests.kafka.support import (
    BAD,
    CONTRACT,
    DEAD,
    GARBAGE,
    TOPIC,
    Payment,
    committed,
    contract,
    dead_headers,
    drain,
    good,
    new_guard,
    new_log,
    stopped,
)

CASES = {case["id"]: case for case in json.loads(
    (Path(__file__).parents[1] / "cases" / "kafka.json").read_text(encoding="utf-8"))["scenarios"]}

LATER = {
    "K16": "schema ids are not looked up before the registry's client is there; a frame's id is not judged",
    "K58": "needs a cluster with an unclean election; commits carry the leader epoch already",
    "K59": "needs a cluster of several brokers",
}
#: Run against the real broker, in test_broker.py, with the replay command, in test_replay.py, or in test_levels.py.
ELSEWHERE = {"K54": "test_transaction_markers_leave_no_lag", "K68": "test_the_process_ends_well_on_sigterm",
             "K75": "test_k75_a_restart_does_not_close_the_breaker",
             "K77": "test_k77_the_breaker_is_its_partitions_own",
             "K80": "test_k80_the_clock_of_latency_is_told", "K82": "test_k82_delays_are_told_apart",
             "K86": "test_k86_a_record_is_not_replayed_for_ever"}

SCENARIOS: dict[str, Callable[[], None]] = {}


def scenario(function: Callable[[], None]) -> Callable[[], None]:
    """Enter a scenario into the table."""
    SCENARIOS[function.__name__.upper()] = function
    return function


@pytest.mark.parametrize("name", sorted(CASES))
def test_scenario(name: str) -> None:
    if name in LATER or name in ELSEWHERE:
        assert name not in SCENARIOS
        return
    SCENARIOS[name]()


def offsets(records: list[Any]) -> list[int]:
    return [record.offset for record in records]


@scenario
def k03() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    drain(new_guard(log))
    assert committed(log) == 1
    again = new_guard(log)
    drain(again)
    assert (again.stats.dead_lettered, len(log.records(DEAD))) == (0, 1)


@scenario
def k04() -> None:
    log = new_log()
    for _ in range(500):
        log.append(TOPIC, GARBAGE)
    guard = new_guard(log)
    assert drain(guard) == []
    assert (guard.stats.dead_lettered, committed(log)) == (500, 500)


@scenario
def k05() -> None:
    log = new_log()
    # Field 9 is unknown, nothing else is set.
    log.append(TOPIC, b"\x4a\x03abc")
    log.append(TOPIC, good(1) + b"\x4a\x03abc")
    guard = new_guard(log)
    assert offsets(drain(guard)) == [1]
    assert guard.stats.unknown_fields == 2
    assert dead_headers(log.records(DEAD)[0])["protocontract.rule_ids"] == b"required,int64.gte"


@scenario
def k07() -> None:
    log = new_log()
    value = good(1, note="abc")[:-1]
    log.append(TOPIC, value)
    assert drain(new_guard(log)) == []
    assert log.records(DEAD)[0].value == value


@scenario
def k08() -> None:
    log = new_log()
    log.append(TOPIC, Payment(id="first").SerializeToString() + good(1))
    (record,) = drain(new_guard(log))
    assert record.message.id == "p1"


@scenario
def k09() -> None:
    for policy, delivered in (("skip", 0), ("deliver", 1)):
        log = new_log()
        log.append(TOPIC, None, key=b"k")
        guard = new_guard(log, tombstones=policy)
        assert len(drain(guard)) == delivered
        assert (guard.stats.tombstones, committed(log), log.records(DEAD)) == (1, 1, [])


@scenario
def k10() -> None:
    log = new_log()
    log.append(TOPIC, None)
    drain(new_guard(log, tombstones="reject"))
    (dead,) = log.records(DEAD)
    assert (dead.key, dead.value, dead_headers(dead)["protocontract.null"]) == (None, b"", b"value")


@scenario
def k12() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    log.append(TOPIC, GARBAGE)
    assert len(drain(new_guard(log))) == 1
    assert log.records(DEAD)[0].key is None


@scenario
def k13() -> None:
    log = new_log()
    headers = [("trace", None), ("trace", b"x")]
    log.append(TOPIC, good(1), headers=headers)
    log.append(TOPIC, GARBAGE, headers=headers)
    assert len(drain(new_guard(log))) == 1
    dead = log.records(DEAD)[0]
    assert list(dead.headers[:2]) == [("trace", b""), ("trace", b"x")]
    assert dead_headers(dead)["protocontract.null_headers"] == b"0"


@scenario
def k15() -> None:
    log = new_log()
    for value in (good(1), GARBAGE):
        log.append(TOPIC, value, headers=[("h", b"\xff\xfe")])
    assert len(drain(new_guard(log))) == 1
    assert log.records(DEAD)[0].headers[0] == ("h", b"\xff\xfe")


def _framed(indexes: bytes, value: bytes) -> bytes:
    return b"\x00\x00\x00\x00\x07" + indexes + value


@scenario
def k19() -> None:
    log = new_log()
    for indexes in (b"\x00", b"\x02\x00", b"\x01\x00"):
        log.append(TOPIC, _framed(indexes, good(1)))
    assert offsets(drain(new_guard(log, encoding="confluent"))) == [0, 1, 2]
    assert wire.frame_prefix(Payment.DESCRIPTOR, 7) == _framed(b"\x00", b"")


@scenario
def k20() -> None:
    log = new_log()
    for indexes in (b"\x80\x80\x80\x80\x10", b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", b"\x0a\x02"):
        log.append(TOPIC, _framed(indexes, b""))
    started = time.monotonic()
    guard = new_guard(log, encoding="confluent")
    assert drain(guard) == []
    assert guard.stats.by_rule == {"wire.framing": 3}
    assert time.monotonic() - started < 2


@scenario
def k24() -> None:
    log = new_log()
    for value in (good(1), GARBAGE, good(2)):
        log.append(TOPIC, value)
    log.delete_topic(DEAD)
    with pytest.raises(GuardError, match=r"payments\.dead cannot be used"):
        new_guard(log).start()
    log.create_topic(DEAD)
    with stopped(new_guard(log, give_up_after=0.1)) as records:
        assert next(records).offset == 0
        log.delete_topic(DEAD)
        with pytest.raises(DeadLetterError):
            next(records)
    assert committed(log) == 1


@scenario
def k26() -> None:
    log = new_log()
    for value in (good(1), GARBAGE):
        log.append(TOPIC, value)
    log.on_send = lambda topic, value: SendFault("fail", errors.TopicAuthorizationFailedError({topic}))
    with pytest.raises(DeadLetterError, match="grant the right"):
        drain(new_guard(log))
    assert committed(log) == 1


@scenario
def k27() -> None:
    log = new_log()
    for number in range(10):
        log.append(TOPIC, GARBAGE if number in (3, 5) else good(number))
    log.on_send = lambda topic, value: SendFault("fail")
    guard = new_guard(log, stop_at_end=False)
    seen: list[int] = []
    thread = threading.Thread(target=lambda: seen.extend(record.offset for record in guard))
    with guard:
        thread.start()
        until(lambda: guard.stats.send_errors > 3)
        assert guard.blocked is not None
        until(lambda: committed(log) == 3)
        assert seen == [0, 1, 2]
        log.on_send = None
        until(lambda: committed(log) == 10)
        guard.stop()
        thread.join(5)
    assert seen == [0, 1, 2, 4, 6, 7, 8, 9]
    assert {dead_headers(record)["protocontract.offset"] for record in log.records(DEAD)} == {b"3", b"5"}


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@scenario
def k28() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    log.on_send = lambda topic, value: SendFault("hold")
    guard = new_guard(log, stop_at_end=False, grace=0.05)
    guard._consumer.on_idle = guard.stop  # type: ignore[attr-defined]
    assert drain(guard) == []
    assert (guard.stats.dead_lettered, guard.unacknowledged, committed(log)) == (0, 1, None)


@scenario
def k29() -> None:
    log = new_log()
    log.create_topic(DEAD, max_message_bytes=1024 * 1024)
    log.append(TOPIC, bytes(2 * 1024 * 1024))
    log.append(TOPIC, good(1))
    with pytest.raises(DeadLetterError, match="larger"):
        drain(new_guard(log, give_up_after=0.3))
    assert committed(log) is None
    assert offsets(drain(new_guard(log, too_large="truncate"))) == [1]
    headers = dead_headers(log.records(DEAD)[0])
    assert headers["protocontract.original_size"] == b"2097152"
    assert headers["protocontract.sha256"] == b"5647f05ec18958947d32874eeb788fa396a05d0bab7c1b71f112ceb7e9b31eee"


@scenario
def k31() -> None:
    log = new_log(8)
    log.append(TOPIC, GARBAGE, partition=7)
    drain(new_guard(log))
    assert dead_headers(log.records(DEAD)[0])["protocontract.partition"] == b"7"
    assert committed(log, 7) == 1


@scenario
def k35() -> None:
    log = new_log()
    for value in (GARBAGE, good(1), GARBAGE):
        log.append(TOPIC, value)
    answers = [SendFault("hold")]
    log.on_send = lambda topic, value: answers.pop() if answers else None
    guard = new_guard(log, stop_at_end=False)
    with guard:
        guard._consumer.on_idle = guard.stop  # type: ignore[attr-defined]
        assert offsets(list(guard)) == [1]
        assert committed(log) in (None, 0)
        log.release()
    assert committed(log) == 3


@scenario
def k36() -> None:
    log = new_log()
    with pytest.raises(GuardError, match="go round"):
        new_guard(log, log.consumer(TOPIC, DEAD))


@scenario
def k37() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE)
    sizes = []
    for _ in range(10):
        drain(new_guard(log))
        dead = log.records(DEAD)[-1]
        sizes.append(sum(len(name) + len(value or b"") for name, value in dead.headers))
        log.append(TOPIC, GARBAGE, headers=dead.headers)
    assert dead_headers(dead)["protocontract.attempt"] == b"10"
    assert sizes[-1] - sizes[0] <= 4


@scenario
def k38() -> None:
    log = new_log()
    values = [b"", b"\x00", b"\xff", bytes(range(256))]
    for value in values:
        log.append(TOPIC, value)
    drain(new_guard(log))
    assert [record.value for record in log.records(DEAD)] == values


@scenario
def k41() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE, key=b"customer-4711")
    drain(new_guard(log))
    dead = log.records(DEAD)[0]
    # Fidelity: the key is kept, and copied nowhere.
    assert dead.key == b"customer-4711"
    assert b"4711" not in b"".join(value or b"" for _, value in dead.headers)


@scenario
def k42() -> None:
    log = new_log()
    for number in range(5_000):
        log.append(TOPIC, GARBAGE if number % 2 else good(number))
    waiting: list[int] = []

    def slow(topic: str, value: bytes | None) -> SendFault:
        return SendFault("hold")

    log.on_send = slow
    guard = new_guard(log, max_pending=50)
    guard._consumer.on_idle = log.release  # type: ignore[attr-defined]
    with guard:
        for _record in guard:
            waiting.append(guard.unacknowledged)
            if guard.unacknowledged >= 49:
                log.release()
    assert max(waiting) <= 50
    assert (guard.stats.delivered, guard.stats.dead_lettered) == (2_500, 2_500)


@scenario
def k44() -> None:
    log = new_log()
    for number in range(100):
        log.append(TOPIC, GARBAGE if number == 60 else good(number))
    first = new_guard(log, log.consumer(TOPIC), stop_at_end=False)
    with stopped(first) as records:
        seen = offsets([next(records) for _ in range(41)])
        rival = log.consumer(TOPIC)
        # The rival takes the topic's only partition for itself.
        first._consumer._topics = {"elsewhere"}  # type: ignore[attr-defined]
        rival.poll(0)
        for _ in range(2):
            first._source.keep_alive()
            rival.poll(0)
        assert first.assignment == set()
        assert log.committed("group", TopicPartition(TOPIC, 0)) == 40
        assert first.stats.revocations >= 1
        first._consumer.on_idle = first.stop  # type: ignore[attr-defined]
        assert list(records) == []
    rival.close()
    assert not log.records(DEAD)
    seen += offsets(drain(new_guard(log)))
    assert sorted(set(seen)) == [number for number in range(100) if number != 60]


@scenario
def k46() -> None:
    log = new_log()
    for number in range(20):
        log.append(TOPIC, good(number))
    guard = new_guard(log, stop_at_end=False)
    with stopped(guard) as records:
        for _ in range(5):
            next(records)
        before = len(log.commits)
        log.evict(guard._consumer)  # type: ignore[arg-type]
        assert not guard._source.still_member()
        assert guard._source.buffered == 0
        assert len(log.commits) == before


@scenario
def k47() -> None:
    log = new_log(3)
    for number in range(9):
        log.append(TOPIC, GARBAGE if number == 4 else good(number), partition=number % 3)
    assert len(drain(new_guard(log))) == 8
    assert [committed(log, partition) for partition in range(3)] == [3, 3, 3]


@scenario
def k51() -> None:
    log = new_log()
    with pytest.raises(GuardError, match="enable_auto_commit"):
        new_guard(log, log.consumer(TOPIC, enable_auto_commit=True))


@scenario
def k53() -> None:
    log = new_log()
    for number in range(3):
        log.append(TOPIC, good(number))
    log.append_marker(TOPIC)
    guard = new_guard(log, close_consumer=False)
    assert offsets(drain(guard)) == [0, 1, 2]
    assert (committed(log), guard.lag, log.records(DEAD)) == (4, 0, [])


@scenario
def k55() -> None:
    log = new_log()
    for number in range(10):
        log.append(TOPIC, good(number))
    log.compact(TopicPartition(TOPIC, 0), [0, 3, 6, 7, 8])
    assert offsets(drain(new_guard(log))) == [1, 2, 4, 5, 9]
    assert committed(log) == 10


@scenario
def k56() -> None:
    log = new_log()
    for number in range(3):
        log.append(TOPIC, good(number))
    with new_guard(log) as guard:
        source = guard._deliverable()
        taken = [next(source) for _ in range(3)]
        taken[0].done()
        taken[2].done()
    assert committed(log) == 1


@scenario
def k60() -> None:
    _undecodable(errors.CorruptRecordError("secret"))


@scenario
def k61() -> None:
    _undecodable(errors.UnsupportedCodecError("secret"))


def _undecodable(error: BaseException) -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    guard = new_guard(log, stop_at_end=False)
    with stopped(guard) as records:
        next(records)
        guard._consumer.fail_poll = error  # type: ignore[attr-defined]
        with pytest.raises(SourceError, match=f"{type(error).__name__}.*payments:0 next 1") as caught:
            next(records)
        assert "secret" not in str(caught.value)
    assert (committed(log), log.records(DEAD)) == (1, [])


@scenario
def k63() -> None:
    log = new_log()
    log.append(TOPIC, good(1, note="a" * (50 * 1024 * 1024)))
    assert len(drain(new_guard(log))) == 1
    assert committed(log) == 1


@scenario
def k65() -> None:
    log = new_log()
    for number in range(20):
        log.append(TOPIC, GARBAGE if number == 15 else good(number))
    guard = new_guard(log, stop_at_end=False)
    with stopped(guard) as records:
        taken = [next(records) for _ in range(11)]
        taken[-1].done()
        guard.pause(TopicPartition(TOPIC, 0))
        guard._consumer.on_idle = guard.stop  # type: ignore[attr-defined]
        assert list(guard) == []
        assert (committed(log), log.records(DEAD)) == (11, [])
        guard._consumer.on_idle = None  # type: ignore[attr-defined]
        guard._stopping = False
        guard.resume(TopicPartition(TOPIC, 0))
        assert next(iter(guard)).offset == 11


@scenario
def k66() -> None:
    log = new_log()
    for number in range(200):
        log.append(TOPIC, GARBAGE if number == 120 else good(number))
    guard = new_guard(log)
    with stopped(guard) as records:
        for record in records:
            if record.offset == 149:
                break
        guard.seek(TopicPartition(TOPIC, 0), 100)
        assert [record.offset for record in guard] == [n for n in range(100, 200) if n != 120]
    positions = [dead_headers(record)["protocontract.offset"] for record in log.records(DEAD)]
    assert positions == [b"120", b"120"]
    assert committed(log) == 200


@scenario
def k69() -> None:
    log = new_log()
    for number in range(5):
        log.append(TOPIC, GARBAGE if number == 1 else good(number))
    log.on_send = lambda topic, value: SendFault("hold")
    guard = new_guard(log, grace=5.0)
    handled: list[int] = []
    with guard:
        for record in guard:
            handled.append(record.offset)
            if record.offset == 2:
                guard.stop()
                threading.Timer(0.1, log.release).start()
    assert handled == [0, 2]
    assert (guard.unacknowledged, committed(log)) == (0, 3)
    assert guard._consumer.closed  # type: ignore[attr-defined]


@scenario
def k70() -> None:
    log = new_log()
    log.append(TOPIC, good(0))
    log.append(TOPIC, GARBAGE)
    log.on_send = lambda topic, value: SendFault("fail")
    guard = new_guard(log, stop_at_end=False, grace=0.2)
    thread = threading.Thread(target=lambda: list(guard))
    with guard:
        thread.start()
        until(lambda: guard.blocked is not None)
        started = time.monotonic()
        guard.stop()
        thread.join(5)
    assert time.monotonic() - started < 3
    # What the process turns into exit code 1.
    assert (guard.unacknowledged, guard.stats.dead_lettered, committed(log)) == (1, 0, 1)


@scenario
def k73() -> None:
    log = new_log()
    log.append(TOPIC, good(1))
    calls: list[float] = []

    def down(_message: Any) -> None:
        calls.append(time.monotonic())
        raise ConnectionError

    with pytest.raises(ConnectionError), new_guard(log) as guard:
        guard.run(down, retries=4, backoff=(0.01, 0.04))
    pauses = [later - earlier for earlier, later in itertools.pairwise(calls)]
    assert len(calls) == 5
    assert pauses[-1] > pauses[0]
    assert (committed(log), log.records(DEAD)) == (None, [])


@scenario
def k83() -> None:
    log = new_log()
    for number in range(100):
        log.append(TOPIC, GARBAGE if number % 2 else BAD)
    drain(new_guard(log))
    for dead in log.records(DEAD):
        # The rules were corrected for half of them.
        value = good(1) if dead.value == BAD else dead.value
        log.append(TOPIC, value, headers=dead.headers)
    records = drain(new_guard(log))
    assert len(records) == 50
    assert {record.id.offset for record in records} == set(range(0, 100, 2))
    second = [dead_headers(record) for record in log.records(DEAD)[100:]]
    assert {headers["protocontract.attempt"] for headers in second} == {b"2"}
    assert {int(headers["protocontract.offset"]) for headers in second} == set(range(1, 100, 2))


@scenario
def k84() -> None:
    log = new_log()
    log.append(TOPIC, GARBAGE, key=b"k", timestamp_ms=5)
    log.append(TOPIC, good(1), key=b"k")
    drain(new_guard(log))
    log.append(TOPIC, good(2), key=b"k", headers=log.records(DEAD)[0].headers)
    (record,) = drain(new_guard(log))
    assert (record.id.offset, record.offset) == (0, 2)
    assert dict(record.headers)["protocontract.timestamp"] == b"5"


@scenario
def k87() -> None:
    log = new_log(3)
    for number in range(300):
        value = None if number % 11 == 0 else GARBAGE if number % 7 == 0 else good(number)
        log.append(TOPIC, value, key=b"k", partition=number % 3)
    guard = new_guard(log, contract=contract())
    for record in guard:
        if record.offset % 10 == 0:
            record.reject("no")
    guard.close()
    assert guard.stats.consumed == 300
    for counts in guard.stats.partitions.values():
        assert counts.consumed == 100
        assert counts.consumed == counts.delivered + counts.dead_lettered + counts.tombstones + counts.skipped
    assert guard.stats.dead_lettered == len(log.records(DEAD))


def test_the_table_is_complete() -> None:
    assert set(CASES) == set(SCENARIOS) | set(LATER) | set(ELSEWHERE)
    assert CONTRACT.dead_letter_topic == DEAD
