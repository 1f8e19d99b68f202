"""A candidate contract beside the active one: what it reports, and that nobody feels it."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from protocontract.contract import Contract
from protocontract.kafka import GuardError
from protocontract.kafka.client import errors
from protocontract.kafka.shadow import MAX_POSITIONS, MAX_ROWS, OTHER, Row, Shadow, Tally
from protocontract.violations import FieldElement, Rule, Violation
from tests.comparison.support import candidate, now, order
from tests.kafka.support import BAD, CONTRACT, DEAD, GARBAGE, TOPIC, contract, good, new_guard, new_log
from tests.kafka.test_exactly_once import SINK, World
from tests.kafka.test_levels import promising

NAME = CONTRACT.full_name
_ODD = Rule(NAME, (FieldElement(2, "amount", 3),), "amount.odd", "must be odd")


def odd(**options: Any) -> Contract[Any]:
    """A candidate that takes odd amounts only, whatever else the active contract demands."""
    return contract(
        fingerprint="cd" * 32,
        version="2.0.0",
        validate=lambda message: None if message.amount % 2 else [Violation(_ODD, message.amount)],
        **options,
    )


def failing() -> Contract[Any]:
    def validate(_message: Any) -> None:
        raise ZeroDivisionError("secret")

    return contract(fingerprint="ef" * 32, validate=validate)


def fill(log: Any) -> None:
    """Four good records with the amounts 1 to 4, one without an id and amount 0, one that is no message."""
    for number in range(4):
        log.append(TOPIC, good(number), key=b"k")
    log.append(TOPIC, BAD, key=b"k")
    log.append(TOPIC, GARBAGE, key=b"k")
    log.append(TOPIC, None, key=b"k")


def test_a_guards_shadow_reports_and_acts_on_nothing() -> None:
    log = new_log()
    fill(log)
    log.append(TOPIC, bytes(CONTRACT.message_type(amount=3).SerializeToString()))
    guard = new_guard(log, shadow=odd())
    with guard:
        assert [record.offset for record in guard] == [0, 1, 2, 3]
    assert len(log.records(DEAD)) == 3
    assert guard.stats.by_rule == {"required": 2, "int64.gte": 1, "wire.malformed": 1}
    assert guard.shadow is not None
    report = guard.shadow.report()
    assert report.pop("seconds") > 0
    assert report == {
        "candidates": [{"contract": NAME, "version": "2.0.0", "fingerprint": "cd" * 32}],
        "share": 1.0,
        "compared": 7,
        "agreed": 4,
        "newly_rejected": 2,
        "newly_accepted": 1,
        "normalized_differently": 0,
        "failed": 0,
        "failures": {},
        "differences": [
            {
                "kind": "newly_rejected",
                "rule": "amount.odd",
                "records": 2,
                "fields": ["amount"],
                "positions": ["payments:0:1", "payments:0:3"],
            },
            {
                "kind": "newly_accepted",
                "rule": "required",
                "records": 1,
                "fields": ["id"],
                "positions": ["payments:0:7"],
            },
        ],
    }
    json.dumps(report)


def test_a_shadow_exactly_once_counts_what_is_committed() -> None:
    world = World()
    fill(world.log)
    world.coordinator.faults["commit"] = [None, errors.KafkaError("no")]
    guard = world.run(shadow=odd(), max_records=3)
    assert guard.stats.transactions_aborted == 1
    assert len(world.log.records(SINK)) == 5
    assert guard.shadow is not None
    report = guard.shadow.report()
    assert (report["compared"], report["agreed"], report["newly_rejected"]) == (6, 4, 2)
    (row,) = report["differences"]
    assert row["positions"] == ["payments:0:1", "payments:0:3"]


@pytest.mark.parametrize("exactly_once", [False, True])
def test_a_shadow_that_raises_is_counted_and_disturbs_nothing(
    exactly_once: bool, caplog: pytest.LogCaptureFixture
) -> None:
    guard: Any
    if exactly_once:
        world = World()
        fill(world.log)
        guard = world.run(shadow=failing())
        assert len(world.log.records(SINK)) == 5
    else:
        log = new_log()
        fill(log)
        guard = new_guard(log, shadow=failing())
        with guard:
            assert len(list(guard)) == 4
    report = guard.shadow.report()
    # The record that is no message does not come as far as the mistake.
    assert (report["compared"], report["agreed"], report["failed"]) == (6, 1, 5)
    assert report["failures"] == {"ZeroDivisionError": 5}
    assert caplog.text.count("the shadow failed (ZeroDivisionError)") == 1
    assert "secret" not in caplog.text + guard.shadow.text()


def test_the_candidate_judges_keys_of_its_own() -> None:
    log = new_log()
    log.append(TOPIC, good(1), key=b"other")
    guard = new_guard(log, shadow=contract(fingerprint="cd" * 32, key_field="id"))
    with guard:
        assert len(list(guard)) == 1
    assert guard.shadow is not None
    (row,) = guard.shadow.report()["differences"]
    assert (row["kind"], row["rule"], row["fields"]) == ("newly_rejected", "key.mismatch", ["id"])


def test_a_record_before_which_the_line_stops_is_not_compared() -> None:
    log = new_log()
    fill(log)
    guard = new_guard(log, contract=promising("HALT", compliance=1.0), shadow=odd())
    guard._tick = lambda: guard.stop() if guard.halted else None
    with guard:
        list(guard)
    assert guard.shadow is not None
    assert guard.shadow.report()["compared"] == 4


def test_two_compiled_versions_of_one_contract() -> None:
    log = new_log()
    raws = [order(), order(id="x"), order(note="a  b"), order(card=" 1  2 "), order(note="twelve chars")]
    for raw in raws:
        log.append(TOPIC, raw)
    guard = new_guard(log, contract=now(), shadow=candidate(), dead_letter_topic=DEAD)
    with guard:
        assert len(list(guard)) == 4
    assert guard.shadow is not None
    report = guard.shadow.report()
    assert [(row["kind"], row["rule"], row["fields"], row["positions"]) for row in report["differences"]] == [
        ("newly_rejected", "string.min_len", ["id"], ["payments:0:1"]),
        ("newly_accepted", "string.max_len", ["note"], ["payments:0:4"]),
        ("normalized_differently", "text", ["note", "card"], ["payments:0:2", "payments:0:3"]),
    ]
    assert "a  b" not in json.dumps(report)


def test_the_text() -> None:
    shadow = Shadow(odd(), share=0.5)
    tally = shadow.tally
    tally.compared, tally.seconds = 1_234, 0.012_34
    tally.kinds.update(newly_rejected=12, normalized_differently=1)
    for number in range(12):
        tally.row("newly_rejected", "string.len").add(_row(f"t:0:{number}", "account"))
    tally.row("newly_rejected", "transaction.refund_of").add(_row("t:0:1", ""))
    tally.row("normalized_differently", "money").add(_row("t:0:7", "amount"))
    tally.failures["KeyError"] = 2
    assert shadow.text().splitlines() == [
        f"shadow · {NAME} 2.0.0 · 1,234 records compared (0.5 of all), 1,219 agree, 10.0 µs each",
        "  newly rejected  12",
        "    string.len                    12   account   t:0:2 t:0:3 t:0:4 t:0:5 t:0:6 t:0:7 t:0:8 t:0:9 t:0:10 t:0:11 …",
        "    transaction.refund_of          1   the record   t:0:1",
        "  normalised differently  1",
        "    money                          1   amount   t:0:7",
        "  not judged, for a mistake in it  2   KeyError 2",
    ]


def _row(position: str, *fields: str) -> Row:
    row = Row(1, dict.fromkeys(fields))
    row.positions.append(position)
    return row


def test_what_is_kept_is_bounded() -> None:
    tally = Tally()
    for number in range(3 * MAX_ROWS):
        for again in range(3 * MAX_POSITIONS):
            tally.row("newly_rejected", f"rule.{number}").add(_row(f"t:0:{again}", f"field{again}"))
    assert len(tally.rows) == MAX_ROWS + 1
    assert max(len(row.positions) for row in tally.rows.values()) == MAX_POSITIONS
    assert max(len(row.fields) for row in tally.rows.values()) == MAX_POSITIONS
    assert tally.rows["newly_rejected", OTHER].records == 2 * MAX_ROWS * 3 * MAX_POSITIONS
    more = Tally()
    more.add(tally)
    assert more.rows.keys() == tally.rows.keys()
    assert sum(row.records for row in more.rows.values()) == 9 * MAX_ROWS * MAX_POSITIONS


def test_a_share_of_the_records_is_the_same_for_everybody() -> None:
    log = new_log(4)
    for number in range(2_000):
        log.append(TOPIC, good(number), partition=number % 4)
    shadows = [Shadow(odd(), share=0.1) for _ in range(2)]
    for shadow in shadows:
        guard = new_guard(log, log.consumer(TOPIC, group_id=f"g{id(shadow)}"), shadow=shadow)
        with guard:
            list(guard)
        assert guard.shadow is shadow
    assert shadows[0].report()["differences"] == shadows[1].report()["differences"]
    assert 150 < shadows[0].tally.compared < 250


def test_topics_without_a_candidate_are_not_compared() -> None:
    log = new_log()
    log.create_topic("refunds")
    log.append(TOPIC, good(1))
    log.append("refunds", good(1))
    guard = new_guard(
        log,
        log.consumer(TOPIC, "refunds"),
        contract={TOPIC: CONTRACT, "refunds": CONTRACT},
        shadow={"refunds": odd()},
    )
    with guard:
        list(guard)
    assert guard.shadow is not None
    report = guard.shadow.report()
    assert report["compared"] == 1
    assert report["differences"][0]["positions"] == ["refunds:0:0"]


def test_what_cannot_be_a_shadow() -> None:
    with pytest.raises(GuardError, match="is the very contract that is applied"):
        new_guard(new_log(), shadow=contract())
    with pytest.raises(GuardError, match="is the very contract that is applied"):
        World().guard(shadow=contract())
    for share in (0, 1.5, -1):
        with pytest.raises(GuardError, match="share must be above 0"):
            Shadow(odd(), share=share)
    assert new_guard(new_log()).shadow is None


def test_nothing_is_logged_where_nothing_fails(caplog: pytest.LogCaptureFixture) -> None:
    log = new_log()
    fill(log)
    with caplog.at_level(logging.DEBUG), new_guard(log, shadow=odd()) as guard:
        list(guard)
    assert "shadow" not in caplog.text
