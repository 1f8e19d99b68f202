"""What may be chosen about dead letters: the key, Kafka Connect's headers, the topic."""

from __future__ import annotations

import hashlib
import hmac
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from protocontract.kafka import DeadLetterForm, GuardError
from protocontract.kafka.guard_options import guard_parser, letter_form
from protocontract.kafka.letters.form import topic_for
from protocontract.kafka.letters.reading import DeadLetter, key_at_source
from protocontract.kafka.memory import MemoryLog
from tests.kafka.conftest import Broker
from tests.kafka.support import (
    BAD,
    CONTRACT,
    DEAD,
    GARBAGE,
    NAME,
    TOPIC,
    contract,
    dead_headers,
    drain,
    new_guard,
    new_log,
)
from tests.kafka.test_replay import replay

SECRET = b"0123456789abcdef"
CONNECT = "__connect.errors."


def letters(form: DeadLetterForm, key: bytes | None = b"4711", value: bytes | None = BAD, **options: Any) -> MemoryLog:
    log = new_log()
    log.create_topic("payments.retry")
    log.append(TOPIC, value, key=key, headers=[("n", b"1"), ("null", None)])
    drain(new_guard(log, dead_letter_form=form, **options))
    return log


@pytest.mark.parametrize(
    ("form", "key", "said"),
    [
        (DeadLetterForm(), b"4711", None),
        (DeadLetterForm("hash"), hashlib.sha256(b"4711").hexdigest().encode(), b"hashed"),
        (
            DeadLetterForm("hash", SECRET),
            hmac.new(SECRET, b"4711", hashlib.sha256).hexdigest().encode(),
            b"hashed",
        ),
        (DeadLetterForm("drop"), None, b"dropped"),
        (DeadLetterForm("contract"), b"4711", None),
    ],
)
def test_k41_the_key_is_kept_hashed_or_dropped(form: DeadLetterForm, key: bytes | None, said: bytes | None) -> None:
    (letter,) = letters(form).records(DEAD)
    assert letter.key == key
    assert dead_headers(letter).get("protocontract.key") == said
    if said is not None:
        assert not any(b"4711" in (value or b"") for _, value in letter.headers)


def test_k41_as_the_contract_declares() -> None:
    declared = contract(key_field="id", sensitive=frozenset({"id"}))
    (letter,) = letters(DeadLetterForm("contract"), contract=declared).records(DEAD)
    assert dead_headers(letter)["protocontract.key"] == b"hashed"
    (letter,) = letters(DeadLetterForm("contract"), contract=contract(key_field="id")).records(DEAD)
    assert (letter.key, dead_headers(letter).get("protocontract.key")) == (b"4711", None)


def test_no_key_is_no_key() -> None:
    (letter,) = letters(DeadLetterForm("hash"), key=None).records(DEAD)
    assert (letter.key, "protocontract.key" in dead_headers(letter)) == (None, False)


def test_a_tombstone_whose_key_is_dropped_can_be_sent() -> None:
    (letter,) = letters(DeadLetterForm("drop"), value=None, tombstones="reject").records(DEAD)
    assert (letter.key, letter.value) == (None, b"")
    assert DeadLetter(letter).restored().value is None


def test_a_secret_is_neither_short_nor_shown() -> None:
    with pytest.raises(GuardError, match="less than 16 bytes"):
        DeadLetterForm("hash", b"short")
    with pytest.raises(GuardError, match="expected one of keep, hash, drop, contract"):
        DeadLetterForm("encrypt")  # type: ignore[arg-type]
    assert "0123456789" not in repr(DeadLetterForm("hash", SECRET))


def test_what_has_not_its_own_key_is_not_replayed(tmp_path: Path) -> None:
    for form in (DeadLetterForm("hash"), DeadLetterForm("drop")):
        log = letters(form)
        report = replay(log, tmp_path / form.key)
        assert (report.replayed, dict(report.parked)) == (0, {"key": 1})
        assert log.records("payments.retry") == []


def test_keys_come_from_the_source_while_it_has_the_record(tmp_path: Path) -> None:
    for form in (DeadLetterForm("hash"), DeadLetterForm("drop")):
        log = letters(form)
        reader = log.consumer(group_id=None)
        key_of = partial(key_at_source, reader)
        state = tmp_path / form.key
        assert replay(log, state, dry_run=True, key_of=key_of).replayed == 1
        assert replay(log, state, key_of=key_of).replayed == 1
        assert log.records("payments.retry")[0].key == b"4711"
        # Another record lies there, or none.
        for value in (GARBAGE, None):
            log.delete_topic(TOPIC)
            log.create_topic(TOPIC)
            if value is not None:
                log.append(TOPIC, value, key=b"other", timestamp_ms=1)
            assert dict(replay(log, tmp_path / f"{form.key}-{value is None}", key_of=key_of).parked) == {"key": 1}


def test_connect_headers_say_all_and_no_value() -> None:
    log = letters(DeadLetterForm(connect_headers=True))
    (letter,) = log.records(DEAD)
    found = [(name.removeprefix(CONNECT), value or b"") for name, value in letter.headers if name.startswith(CONNECT)]
    said = dict(found)
    assert [name for name, _ in found] == [
        "topic",
        "partition",
        "offset",
        "connector.name",
        "task.id",
        "stage",
        "class.name",
        "exception.class.name",
        "exception.message",
        "exception.stacktrace",
    ]
    assert (said["topic"], said["partition"], said["offset"]) == (TOPIC.encode(), b"0", b"0")
    assert (said["connector.name"], said["task.id"], said["stage"]) == (b"group", b"0", b"TRANSFORMATION")
    (first, second) = DeadLetter(letter).findings
    assert (
        said["exception.message"].decode()
        == f"{NAME}: required ({first.code:#010x}) id; int64.gte ({second.code:#010x}) amount"
    )
    assert said["exception.stacktrace"].startswith(b"protocontract.ContractViolation: ")
    assert DeadLetter(letter).restored().headers == [("n", b"1"), ("null", None)]


def test_stages() -> None:
    form = DeadLetterForm(connect_headers=True)
    (letter,) = letters(form, value=GARBAGE).records(DEAD)
    assert dict(letter.headers)[f"{CONNECT}stage"] == b"VALUE_CONVERTER"
    log = new_log()
    log.append(TOPIC, CONTRACT.message_type(id="p", amount=1).SerializeToString())
    with new_guard(log, dead_letter_form=form) as guard:
        for record in guard:
            record.reject("no such account")
    (letter,) = log.records(DEAD)
    assert dict(letter.headers)[f"{CONNECT}stage"] == b"TASK_PUT"
    assert b"reason: no such account" in (dict(letter.headers)[f"{CONNECT}exception.message"] or b"")


def test_connect_headers_of_the_source_stay_and_ours_do_not_pile_up(tmp_path: Path) -> None:
    form = DeadLetterForm(connect_headers=True)
    log = new_log()
    log.create_topic("payments.retry")
    log.append(TOPIC, BAD, headers=[(f"{CONNECT}topic", b"theirs"), (f"{CONNECT}stage", None)])
    drain(new_guard(log, dead_letter_form=form))
    sizes = []
    for number in range(3):
        newest = log.records(DEAD)[-1]
        assert DeadLetter(newest).restored().headers == [(f"{CONNECT}topic", b"theirs"), (f"{CONNECT}stage", None)]
        assert [value for name, value in newest.headers if name == f"{CONNECT}topic"] == [b"theirs", TOPIC.encode()]
        sizes.append(len(newest.headers))
        assert replay(log, tmp_path, plan=f"p{number}", max_replays=9).replayed == 1
        sent = log.records("payments.retry")[-1]
        assert [value for name, value in sent.headers if name == f"{CONNECT}topic"] == [b"theirs"]
        drain(new_guard(log, log.consumer("payments.retry"), dead_letter_form=form))
    assert sizes == sizes[:1] * 3


def test_one_topic_for_each_group() -> None:
    assert topic_for("payments.dead", "ledger") == "payments.dead"
    assert topic_for("payments.dead.{group}", "ledger") == "payments.dead.ledger"
    with pytest.raises(GuardError, match="with group `a b` it is no name of a topic"):
        topic_for("payments.dead.{group}", "a b")
    log = new_log()
    log.create_topic("dead.group")
    log.append(TOPIC, BAD)
    drain(new_guard(log, dead_letter_topic="dead.{group}"))
    assert (len(log.records("dead.group")), log.records(DEAD)) == (1, [])


def test_the_options(tmp_path: Path) -> None:
    needed = ["--contract", "a.B", "--source", "s", "--sink", "t"]
    assert letter_form(guard_parser().parse_args(needed)) == DeadLetterForm()
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET + b"\n")
    options = [*needed, "--dead-letter-key", "hash", "--dead-letter-key-secret", str(secret), "--connect-headers"]
    assert letter_form(guard_parser().parse_args(options)) == DeadLetterForm("hash", SECRET, True)


@pytest.mark.kafka
def test_a_broker_takes_every_form(broker: Broker, group: str) -> None:
    from protocontract.kafka import Guard

    source = broker.topic("form")
    broker.create(f"{source}.{group}")
    producer = broker.producer()
    producer.send(source, GARBAGE, key=b"4711").get(10)
    producer.close()
    with Guard(
        broker.consumer(source, group),
        CONTRACT,
        dead_letter_topic=f"{source}.{{group}}",
        dead_letter_form=DeadLetterForm("hash", SECRET, connect_headers=True),
        stop_at_end=True,
    ) as guard:
        assert list(guard) == []
    (letter,) = broker.read(f"{source}.{group}")
    assert letter.key == DeadLetterForm("hash", SECRET).hash(b"4711")
    assert dict(letter.headers)[f"{CONNECT}offset"] == b"0"
