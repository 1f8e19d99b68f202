"""A candidate contract beside the active one: what it reports, and that nobody feels it."""

from __future__ import annotations

import io
import json
import logging
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from protocontract import cli, metrics
from protocontract.contract import Contract
from protocontract.kafka import GuardError
from protocontract.kafka.client import errors
from protocontract.kafka.http import Health
from protocontract.kafka.shadow import MAX_POSITIONS, MAX_ROWS, OTHER, Row, Shadow, Tally
from protocontract.kafka.shadow_options import Asked
from protocontract.violations import FieldElement, Rule, Violation
from tests.comparison.support import NAME as ORDER
from tests.comparison.support import NEXT, NOW, candidate, now, order
from tests.kafka.conftest import Broker
from tests.kafka.support import BAD, CONTRACT, DEAD, GARBAGE, TOPIC, contract, good, new_guard, new_log
from tests.kafka.test_broker import KEEPS_ALL, wait_until
from tests.kafka.test_exactly_once import SINK, World
from tests.kafka.test_levels import _get_text, promising
from tests.support.ports import free_ports

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
        "    string.len                    12   account   "
        + " ".join(f"t:0:{number}" for number in range(7, 12))
        + " …",
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


# -- the process


def test_the_report_is_written_when_it_is_asked_for() -> None:
    for form, begins in (("text", "shadow · "), ("json", '{"candidates": ')):
        out = io.StringIO()
        asked = Asked(Shadow(odd()), form, out)
        before = signal.getsignal(signal.SIGUSR1)
        with asked.listening():
            asked.tick()
            assert out.getvalue() == ""
            signal.raise_signal(signal.SIGUSR1)
            # The handler writes nothing: the loop does, between two records.
            assert out.getvalue() == ""
            asked.tick()
            asked.tick()
        assert out.getvalue().count("\n") == 1
        assert out.getvalue().startswith(begins)
        assert signal.getsignal(signal.SIGUSR1) is before
    with Asked(None, "text").listening():
        assert signal.getsignal(signal.SIGUSR1) is before


def test_the_report_is_answered() -> None:
    guard = new_guard(new_log(), shadow=odd())
    health = Health(guard, 0)
    try:
        assert guard.shadow is not None
        status, kind, body = health.answer("/shadow")
        assert (status, kind, json.loads(body)) == (200, "application/json", guard.shadow.report())
    finally:
        health.close()
    health = Health(new_guard(new_log()), 0)
    try:
        assert health.answer("/shadow")[0] == 404
    finally:
        health.close()


def test_every_metric_of_a_shadow_is_documented() -> None:
    log = new_log()
    fill(log)
    guard = new_guard(log, shadow=odd())
    with guard:
        list(guard)
    families = [each for each in metrics.GuardCollector(guard).collect() if "shadow" in each.name]
    page = (Path(__file__).parents[2] / "docs" / "shadow.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `(data_contract_\w+)_total` \| ([\w, ]*) ?\|", page, re.MULTILINE))
    assert {each.name: set().union(*(sample.labels for sample in each.samples)) for each in families} == {
        name: set(labels.replace(",", " ").split()) for name, labels in listed.items()
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--shadow-share", "0.5"), "--shadow-share is one of a shadow; add --shadow NAME"),
        (("--shadow-proto-path", str(NEXT), "--shadow-share", "2"), "share must be above 0"),
        (("--shadow-proto-path", str(NEXT), "--shadow-descriptors", "x"), "not allowed with argument"),
        (("--shadow", "shop.v1.Nothing"), "no message shop.v1.Nothing in"),
        (("--shadow-descriptors", str(NEXT / "nothing.binpb")), "cannot read"),
    ],
)
def test_options_that_cannot_work(arguments: tuple[str, ...], said: str, capsys: Any) -> None:
    what = ("--contract", ORDER, "--proto-path", str(NOW), "--bootstrap-servers", "x:1")
    assert cli.main(["guard", *what, "--source", "a", "--sink", "b", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.kafka
@pytest.mark.parametrize("more", [(), ("--exactly-once",)])
def test_a_candidate_beside_a_process(broker: Broker, more: tuple[str, ...]) -> None:
    source, sink, dead = broker.topic("raw"), broker.topic("clean"), broker.topic("dead", 1, **KEEPS_ALL)
    raws = [order(), order(id="x"), order(note="a  b"), order(note="twelve chars"), b"\x0a\xff"] * 20
    producer = broker.producer()
    for raw in raws:
        producer.send(source, raw, key=b"k")
    producer.flush()
    producer.close()
    port = str(free_ports(1)[0])
    where = f"--bootstrap-servers {broker.servers} --source {source} --sink {sink} --dead-letter {dead} --http {port}"
    what = f"--contract {ORDER} --proto-path {NOW} --shadow-proto-path {NEXT} --group g-{source}"
    process = subprocess.Popen(
        [sys.executable, "-m", "protocontract.cli", "guard", *where.split(), *what.split(), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: broker.committed(source, f"g-{source}") == {0: 100} or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        report = json.loads(_get_text(port, "/shadow"))
        assert (report["compared"], report["agreed"], report["failed"]) == (100, 40, 0)
        assert {(row["kind"], row["rule"]): row["records"] for row in report["differences"]} == {
            ("newly_rejected", "string.min_len"): 20,
            ("newly_accepted", "string.max_len"): 20,
            ("normalized_differently", "text"): 20,
        }
        assert report["differences"][0]["positions"][-1] == f"{source}:0:96"
        text = _get_text(port, "/metrics")
        assert 'data_contract_shadow_records_total{result="agreed"} 40.0' in text
        assert 'data_contract_shadow_differences_total{kind="newly_rejected",rule_id="string.min_len"} 20.0' in text
        process.send_signal(signal.SIGUSR1)
        assert process.stderr is not None
        while not (line := process.stderr.readline()).startswith("shadow · "):
            # The progress line comes now and then; the process is there, so something comes.
            assert line
        process.terminate()
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 0, err
    assert out.startswith("shadow · shop.v1.Order 2.0.0 · 100 records compared, 40 agree")
    # Acted on nothing.
    assert (len(broker.read(sink)), len(broker.read(dead))) == (60, 40)
