"""What is looked at before a guard starts."""

from __future__ import annotations

from typing import Any

import pytest

from protocontract.kafka import GuardError, checks, client
from protocontract.kafka.checks import HEADERS_ROOM, Topic, describe, problems
from protocontract.kafka.client import errors
from protocontract.kafka.letters.dead_letter import Provenance, dead_letter
from protocontract.violations import FieldElement, Rule, Violation
from tests.kafka.conftest import Broker
from tests.kafka.scenario_table import until
from tests.kafka.support import CONTRACT, GARBAGE, TOPIC, new_log
from tests.kafka.test_broker import KEEPS_ALL, guard_process

ALL = frozenset({"READ", "WRITE", "DESCRIBE", "DESCRIBE_CONFIGS"})
LIMIT = 1_048_588


def topic(name: str, operations: frozenset[str] = ALL, error: int = 0, **settings: str) -> Topic:
    named = {key.replace("_", "."): value for key, value in settings.items()}
    return Topic(
        name,
        error,
        operations,
        {
            "cleanup.policy": "delete",
            "retention.ms": "604800000",
            "retention.bytes": "-1",
            "max.message.bytes": str(LIMIT),
            "compression.type": "producer",
            **named,
        },
    )


SOURCE, SINK = topic("raw"), topic("clean")
DEAD = topic("dead", retention_ms="-1", max_message_bytes=str(LIMIT + HEADERS_ROOM))


def test_nothing_is_wrong() -> None:
    assert problems(SOURCE, SINK, DEAD) == []


@pytest.mark.parametrize(
    ("topics", "options", "said"),
    [
        ((topic("raw", error=3), SINK, DEAD), {}, "source: topic raw does not exist"),
        ((SOURCE, topic("clean", error=3), DEAD), {}, "sink: topic clean does not exist"),
        ((SOURCE, SINK, topic("dead", error=29)), {}, "dead letters: this user may not see topic dead; grant DESCRIBE"),
        ((SOURCE, SINK, topic("dead", error=5)), {}, "topic dead cannot be used (LeaderNotAvailableError)"),
        ((topic("raw", frozenset({"DESCRIBE"})), SINK, DEAD), {}, "this user may not use topic raw; grant READ"),
        ((SOURCE, topic("clean", frozenset({"READ"})), DEAD), {}, "this user may not use topic clean; grant WRITE"),
        ((SOURCE, SINK, topic("dead", frozenset({"READ"}))), {}, "this user may not use topic dead; grant WRITE"),
        (
            (SOURCE, SINK, topic("dead", cleanup_policy="compact,delete", max_message_bytes="9999999")),
            {},
            "topic dead is compacted",
        ),
        (
            (SOURCE, SINK, topic("dead", max_message_bytes="9999999")),
            {},
            "deletes them in time (retention.ms=604800000); set retention.ms=-1, or start with --allow-retention",
        ),
        (
            (SOURCE, SINK, topic("dead", retention_ms="-1", retention_bytes="5", max_message_bytes="9999999")),
            {},
            "(retention.bytes=5)",
        ),
        (
            (SOURCE, SINK, topic("dead", retention_ms="-1")),
            {},
            f"set max.message.bytes={LIMIT + HEADERS_ROOM}, or start with --too-large truncate",
        ),
        (
            (SOURCE, SINK, topic("dead", retention_ms="-1", max_message_bytes="2000")),
            {"too_large": "truncate"},
            f"set max.message.bytes={HEADERS_ROOM}",
        ),
        (
            (SOURCE, SINK, Topic("dead", 0, ALL)),
            {},
            "the settings of topic dead cannot be read; grant DESCRIBE_CONFIGS",
        ),
        (
            (topic("raw", compression_type="zstd"), SINK, DEAD),
            {"missing_codecs": ["zstd"]},
            "source: topic raw is compressed with zstd, which this installation cannot read",
        ),
        (
            (SOURCE, SINK, DEAD),
            {"missing_codecs": ["lz4", "zstd"]},
            "producers choose how topic raw is compressed (compression.type=producer), and this installation cannot "
            "read lz4, zstd",
        ),
        (
            (SOURCE, SINK, DEAD),
            {"compression": "lz4", "missing_codecs": ["lz4"]},
            "compression_type: this installation cannot write lz4",
        ),
    ],
)
def test_one_thing_is_wrong(topics: tuple[Topic, Topic, Topic], options: dict[str, Any], said: str) -> None:
    found = problems(*topics, **options)
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(
    ("dead", "options"),
    [
        (topic("dead", max_message_bytes="9999999"), {"allow_retention": True}),
        (topic("dead", retention_ms="-1"), {"too_large": "truncate"}),
        (topic("dead", frozenset(), retention_ms="-1", max_message_bytes="9999999"), {}),
    ],
)
def test_a_flag_lets_it_start(dead: Topic, options: dict[str, Any]) -> None:
    assert problems(SOURCE, SINK, dead, **options) == []


def test_codecs_that_are_there_are_no_problem() -> None:
    assert problems(topic("raw", compression_type="gzip"), SINK, DEAD, compression="lz4", missing_codecs=["zstd"]) == []


def test_the_room_for_headers_is_enough() -> None:
    log = new_log()
    raw = log.append(TOPIC, GARBAGE, key=b"k", headers=[("h", None)] * 50)
    path = tuple(FieldElement(number, "f" * 200, 9) for number in range(1, 9))
    violations = [Violation(Rule("a.B", path, f"rule.{number}{'x' * 80}", "m"), "") for number in range(500)]
    letter = dead_letter(raw, "dead", CONTRACT, violations, Provenance("g" * 300, "c" * 300), reason="r" * 5_000, now=0)
    # The record's own headers count as the source's.
    own = letter.size - len(GARBAGE) - 1 - 50
    assert own < HEADERS_ROOM


@pytest.mark.kafka
def test_the_broker_describes_topics(broker: Broker) -> None:
    raw = broker.topic("raw", compression_type="zstd")
    dead = broker.topic("dead", cleanup_policy="compact")
    # A new topic's settings reach the broker a moment after its name does.
    until(lambda: all(each.settings for each in describe(broker.admin, (raw, dead)).values()))
    found = describe(broker.admin, (raw, dead, "nowhere"))
    assert found[raw].settings["compression.type"] == "zstd"
    assert {"READ", "WRITE"} <= found[raw].operations
    assert found[dead].settings["cleanup.policy"] == "compact"
    assert found["nowhere"].error == 3
    assert not found["nowhere"].settings
    assert found[raw].number("max.message.bytes") == LIMIT


@pytest.mark.kafka
def test_the_process_tells_all_problems_at_once(broker: Broker) -> None:
    source, sink, dead = broker.topic("raw"), broker.topic("clean"), broker.topic("dead")
    process = guard_process(broker, source, sink, dead, "--exit-at-end")
    _, err = process.communicate(timeout=180)
    assert process.returncode == 2, err
    assert err.startswith("error: the guard cannot start:\n")
    assert "start with --allow-retention" in err
    assert f"max.message.bytes={LIMIT + HEADERS_ROOM}" in err
    assert "Traceback" not in err
    process = guard_process(broker, source, sink, dead, "--exit-at-end", "--allow-retention", "--too-large", "truncate")
    _, err = process.communicate(timeout=180)
    assert process.returncode == 0, err
    compacted = broker.topic("dead", 1, **{**KEEPS_ALL, "cleanup_policy": "compact"})
    process = guard_process(broker, source, sink, compacted, "--exit-at-end", "--allow-retention")
    _, err = process.communicate(timeout=180)
    assert process.returncode == 2
    assert f"error: dead letters: topic {compacted} is compacted" in err


@pytest.mark.kafka
def test_from_stop_refuses_to_begin_without_a_committed_offset(broker: Broker) -> None:
    source, sink, dead = broker.topic("raw"), broker.topic("clean"), broker.topic("dead", 1, **KEEPS_ALL)
    for more in ((), ("--exactly-once",)):
        process = guard_process(broker, source, sink, dead, "--from", "stop", *more)
        _, err = process.communicate(timeout=180)
        assert process.returncode == 1, err
        assert "records are missing from the source (NoOffsetForPartitionError)" in err
        assert "Traceback" not in err


def test_problems_are_told_one_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Admin:
        closed = False

        def describe_groups(self, groups: list[str]) -> None:
            if groups == ["theirs"]:
                raise errors.GroupAuthorizationFailedError()
            raise errors.CoordinatorNotAvailableError()

        def close(self) -> None:
            self.closed = True

    admin = Admin()
    monkeypatch.setattr(client, "new_admin", lambda _config: admin)
    monkeypatch.setattr(checks, "describe", lambda _admin, names: {name: topic(name) for name in names})
    with pytest.raises(GuardError) as told:
        checks.check({}, "raw", "clean", "dead", group="ours", too_large="block", allow_retention=False)
    assert len(str(told.value).splitlines()) == 3
    assert admin.closed
    with pytest.raises(GuardError, match="this user may not use consumer group theirs; grant READ"):
        checks.check({}, "raw", "clean", "dead", group="theirs", too_large="truncate", allow_retention=True)
