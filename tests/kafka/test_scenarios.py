"""The failure scenarios of tests/cases/kafka.json, one function each, against the in-memory log.

What a broker can produce by itself also runs on a real one, in test_scenarios_broker. ``STANDS_FOR`` names the tests of
the others: nothing is left out silently. ``make scenarios`` prints the table.
"""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from protocontract import wire
from protocontract.kafka import DeadLetterError, GuardError
from protocontract.kafka.client import errors
from protocontract.kafka.memory import SendFault
from tests.kafka import scenarios_running  # noqa: F401  # enters its scenarios into the table
from tests.kafka.scenario_table import CASES, MORE, SCENARIOS, STANDS_FOR, offsets, scenario, until
from tests.kafka.support import (
    CONTRACT,
    DEAD,
    GARBAGE,
    TOPIC,
    Payment,
    committed,
    dead_headers,
    drain,
    good,
    new_guard,
    new_log,
    stopped,
)
from tests.support.timing import seconds


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
    guard = new_guard(log, encoding="confluent")
    handed: list[object] = []
    assert seconds(lambda: handed.extend(drain(guard))) < 2  # not what all that they claim to hold would take
    assert not handed
    assert guard.stats.by_rule == {"wire.framing": 3}


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
        thread.join(120)
    assert seen == [0, 1, 2, 4, 6, 7, 8, 9]
    assert {dead_headers(record)["protocontract.offset"] for record in log.records(DEAD)} == {b"3", b"5"}


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


# Below the functions: they enter themselves into the table.
@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.scenario(name)) for name in sorted(SCENARIOS)])
def test_scenario(name: str) -> None:
    SCENARIOS[name]()


def test_the_table_is_complete() -> None:
    assert set(CASES) | set(MORE) == set(SCENARIOS).union(*STANDS_FOR.values())
    assert CONTRACT.dead_letter_topic == DEAD


def test_every_test_of_the_table_is_there() -> None:
    found = {
        name
        for path in Path(__file__).parents[1].rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert set(STANDS_FOR) <= found
