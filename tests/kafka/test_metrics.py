"""What a scrape and a probe see of a guard."""

from __future__ import annotations

import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from protocontract import metrics, status_http
from protocontract.contract import StreamLevel
from protocontract.kafka import guard_options
from protocontract.kafka.http import REASON_HEADER, Health
from protocontract.kafka.letters.dead_letter import DEAD_LETTER_HEADERS
from protocontract.kafka.memory import SendFault
from tests.kafka.support import BAD, DEAD, GARBAGE, NAME, TOPIC, contract, good, new_guard, new_log
from tests.kafka.test_exactly_once_levels import a_line
from tests.kafka.test_levels import Clock, Runs, promising, stream

ORDER = (
    "contract", "topic", "group", "outcome", "verdict", "rule_id", "error_class", "level", "measured_from", "version",
    "fingerprint", "result", "le",
)  # fmt: skip
DOCS = Path(__file__).parents[2] / "docs"
#: What only a guard of the other kind exports.
AT_LEAST_ONCE = {"dead_letter_pending", "dead_letter_blocked"}
WATCHING = {"dead_letter_oldest_unresolved_age_seconds", "dead_letter_oldest_unresolved_retention_seconds"}
EXACTLY_ONCE = {"data_contract_open_transaction_age_seconds", "data_contract_transactions_total"}


def scraped(collector: metrics.GuardCollector) -> dict[str, dict[tuple[str, ...], float]]:
    """Samples by name and label values."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(metrics.exposition(collector).decode()):
        for sample in family.samples:
            labels = tuple(sample.labels[name] for name in sorted(sample.labels, key=ORDER.index))
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def test_the_counts_of_a_mixed_run() -> None:
    log = new_log()
    for value in (good(1), good(2, note=" a "), BAD, GARBAGE, GARBAGE, None):
        log.append(TOPIC, value, key=b"k")
    log.append(TOPIC, good(3, note="far too long"))
    guard = new_guard(log)
    collector = metrics.GuardCollector(guard)
    with guard:
        list(guard)
        seen = scraped(collector)
    records = {labels[2]: count for labels, count in seen["data_contract_records_total"].items()}
    assert records == {"delivered": 3, "dead_lettered": 3, "tombstones": 1, "skipped": 0, "abandoned": 0}
    assert seen["data_contract_violations_total"] == {
        (NAME, "required", "INPUT/IMMEDIATE"): 1,
        (NAME, "int64.gte", "INPUT/IMMEDIATE"): 1,
        (NAME, "wire.malformed", "INPUT/CODE"): 2,
    }
    assert seen["data_contract_judged_records_total"] == {(NAME, "group", "valid"): 3, (NAME, "group", "broken"): 3}
    assert seen["data_contract_guard_info"] == {(NAME, "group", "1.2.0", "ab" * 32): 1}
    assert seen["data_contract_warnings_total"] == {("string.max_len",): 1}
    assert seen["contract_compliance_ratio"] == {(NAME,): 0.5}
    assert seen["dead_letter_records_total"] == {(): 3}
    assert seen["data_contract_normalized_total"] == {(): 1}
    assert seen["data_contract_processing_seconds_count"] == {(): 6}
    assert seen["data_contract_processing_seconds_sum"][()] > 0
    assert seen["data_contract_lag_records"] == {(): 0}
    assert seen["data_contract_blocked"] == seen["data_contract_halted"] == {(): 0}


def documented() -> dict[str, set[str]]:
    """The labels of each metric, as docs/observability.md lists them."""
    table = (DOCS / "observability.md").read_text().partition("## Metrics")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([\w, ]*)\| ", table, re.MULTILINE)
    return {name: set(labels.replace(",", " ").split()) for name, labels in rows}


def exported(guard: Any, **options: Any) -> dict[str, set[str]]:
    """The labels of each metric, as a guard exports it that has seen good, bad and odd records."""
    found: dict[str, set[str]] = {}
    for family in metrics.GuardCollector(guard, **options).collect():
        name = f"{family.name}_total" if family.type == "counter" else family.name
        assert family.documentation.endswith("."), name
        labels: set[str] = set().union(*(sample.labels for sample in family.samples)) - {"le"}
        found[name] = labels
    return found


def test_every_metric_is_documented_with_its_labels() -> None:
    log = new_log()
    runs = Runs(log, contract=promising("ALERT", compliance=0.9, latency=60, window=60), clock=Clock())
    stream(log, "gbggggggggg")
    log.append(TOPIC, good(3, note="far too long"))
    with runs.guard:
        runs.until_idle()
        seen = exported(runs.guard)
    table = documented()
    # Only a contract with an event time knows when its producer wrote.
    assert seen.keys() == table.keys() - EXACTLY_ONCE - WATCHING
    assert {name: labels for name, labels in table.items() if labels != seen.get(name, labels)} == {
        "data_contract_producer_delay_seconds": {"contract", "group"}
    }


def test_a_guard_that_works_exactly_once_exports_the_same() -> None:
    line = a_line("gbg", contract=promising("ALERT", compliance=0.9, latency=60, window=60))
    line.until_idle()
    seen = exported(line.guard)
    assert seen.keys() == documented().keys() - AT_LEAST_ONCE - WATCHING
    counts = scraped(metrics.GuardCollector(line.guard))
    assert counts["data_contract_transactions_total"] == {("committed",): 1, ("aborted",): 0}
    assert counts["data_contract_judged_records_total"] == {(NAME, "group", "valid"): 2, (NAME, "group", "broken"): 1}
    assert counts["data_contract_open_transaction_age_seconds"] == {(): 0}
    line.close()


def test_every_header_is_documented() -> None:
    page = (DOCS / "operations.md").read_text(encoding="utf-8")
    headers = page.partition("## Headers of dead letters")[2]
    written = {
        f"protocontract.{name}"
        for row in re.findall(r"^\| (`.*?) \| ", headers, re.MULTILINE)
        for name in re.findall(r"`([a-z0-9_]+)`", row)
    }
    assert written == DEAD_LETTER_HEADERS


def test_no_time_is_taken_without_a_collector() -> None:
    guard = new_guard(new_log())
    assert type(guard._judge.for_topic(TOPIC)).__name__ == "TopicJudge"


def test_levels_and_halts_are_seen() -> None:
    log = new_log()
    runs = Runs(log, contract=promising("HALT", compliance=0.9, latency=60, window=60), clock=Clock())
    collector = metrics.GuardCollector(runs.guard)
    stream(log, "gggggggggbb")
    with runs.guard:
        runs.until_idle()
        seen = scraped(collector)
    assert seen["data_contract_halted"] == {(): 1}
    assert seen["data_contract_halts_total"] == {(): 1}
    assert seen["data_contract_level_promised"][NAME, "group", "compliance", ""] == 0.9
    assert seen["data_contract_level_kept"][NAME, "group", "compliance", ""] == 0
    assert (NAME, "group", "latency", "CreateTime") in seen["data_contract_level_measured"]
    # Nothing of this contract runs any more.
    assert "data_contract_watched_since_timestamp_seconds" not in seen


def test_who_has_no_partitions_tells_of_no_levels() -> None:
    log, clock = new_log(), Clock()
    runs = Runs(log, contract=promising(compliance=0.9, window=60), clock=clock)
    collector = metrics.GuardCollector(runs.guard)
    stream(log, "b" * 11)
    with runs.guard:
        runs.until_idle()
        assert scraped(collector)["data_contract_level_kept"] == {(NAME, "group", "compliance", ""): 0}
        # What a rebalance leaves.
        runs.guard._source.partitions.clear()
        clock.now += 2
        runs.guard._halting.look()
        seen = scraped(collector)
    assert not {name for name in seen if name.startswith("data_contract_level")}
    assert "data_contract_watched_since_timestamp_seconds" not in seen
    assert seen["data_contract_judged_records_total"][NAME, "group", "broken"] == 11


def test_rules_beyond_the_limit_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MAX_RULES", 3)
    guard = new_guard(new_log())
    collector = metrics.GuardCollector(guard)
    for number in range(10):
        guard.stats.violations[NAME, f"cel:{number:08x}", "INPUT/CODE"] += 1
        guard.stats.warnings[f"cel:{number:08x}"] += 1
        seen = scraped(collector)
        assert (
            len(seen["data_contract_violations_total"])
            == len(seen["data_contract_warnings_total"])
            == min(number + 1, 4)
        )
    # Who had a series keeps it: a counter never falls.
    guard.stats.violations[NAME, "cel:00000001", "INPUT/CODE"] += 1
    seen = scraped(collector)["data_contract_violations_total"]
    assert seen == {
        (NAME, "cel:00000000", "INPUT/CODE"): 1,
        (NAME, "cel:00000001", "INPUT/CODE"): 2,
        (NAME, "cel:00000002", "INPUT/CODE"): 1,
        (NAME, "other", "other"): 7,
    }


def test_topics_and_contracts_beyond_the_limit_are_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MAX_TOPICS", 1)
    monkeypatch.setattr(metrics, "MAX_CONTRACTS", 1)
    log = new_log()
    for topic in ("refunds", "fees"):
        log.create_topic(topic)
        log.append(topic, good())
        log.append(topic, BAD)
    contracts = {topic: contract(full_name=f"shop.{topic}") for topic in ("refunds", "fees")}
    guard = new_guard(log, log.consumer("refunds", "fees"), contract=contracts)
    collector = metrics.GuardCollector(guard)
    with guard:
        list(guard)
        seen = scraped(collector)
    # Topics are admitted as they are assigned, contracts as they are declared.
    assert {labels[0] for labels in seen["data_contract_records_total"]} == {"shop.refunds", "other"}
    assert {labels[1] for labels in seen["data_contract_records_total"]} == {"fees", "other"}
    assert seen["data_contract_judged_records_total"]["other", "group", "broken"] == 1
    assert {labels[0] for labels in seen["data_contract_violations_total"]} == {"shop.refunds", "other"}


def test_labels_are_bounded_whatever_the_records_hold() -> None:
    log = new_log()
    for number in range(500):
        log.append(TOPIC, GARBAGE + str(number).encode(), key=str(number).encode())
    guard = new_guard(log)
    collector = metrics.GuardCollector(guard)
    with guard:
        list(guard)
        text = metrics.exposition(collector).decode()
    assert len(text.splitlines()) < 120
    assert "garbage" not in text


def test_the_missing_extra_is_named() -> None:
    code = "import sys; sys.modules['prometheus_client'] = None; import protocontract.metrics"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1].endswith(
        'MissingExtra: protocontract.metrics needs prometheus-client: pip install "protocontract[metrics]"'
    )


# -- probes


@pytest.fixture
def halted() -> Iterator[tuple[Any, Health]]:
    log = new_log()
    runs = Runs(log, contract=contract(level=StreamLevel(compliance=1.0), on_breach="HALT"), clock=Clock())
    health = Health(runs.guard, 0)
    try:
        yield runs, health
    finally:
        health.close()
        runs.guard.close()


def ask(health: Health, path: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(
        f"http://127.0.0.1:{health.port}{path}",
        method="POST" if path == "/resume" else "GET",
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_probes_follow_the_guard(halted: tuple[Runs, Health]) -> None:
    runs, health = halted
    log = runs.log
    assert ask(health, "/livez") == (200, "alive\n")
    assert ask(health, "/readyz") == (503, "no partition is assigned\n")
    assert ask(health, "/nothing")[0] == 404
    runs.guard.start()
    stream(log, "gg")
    answers = []

    def probe() -> None:
        answers.append(ask(health, "/readyz"))

    runs.until_idle(probe, polls=1)
    assert answers == [(200, "ready\n")]
    stream(log, "bg")
    runs.until_idle(probe, polls=1)
    status, text = answers[-1]
    assert status == 503
    assert text.startswith("halted: payments:0: compliance 66.66 %, promised 100.00 %")
    assert ask(health, "/resume") == (400, f"say why in the header {REASON_HEADER}\n")
    status, text = ask(health, "/resume", Protocontract_Reason="rolled back")
    assert (status, text.startswith("resumed: payments:0")) == (200, True)
    assert ask(health, "/resume", Protocontract_Reason="again") == (409, "nothing is halted\n")
    status, text = ask(health, "/metrics")
    assert status == 200
    assert "data_contract_records_total{" in text


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("fe80::1%eth0", False),
    ],
)
def test_who_is_on_this_host(address: str, own: bool) -> None:
    assert status_http.is_this_host(address) is own


def test_only_its_own_host_can_resume_it(halted: tuple[Runs, Health], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_http, "is_this_host", lambda _address: False)
    _, health = halted
    assert ask(health, "/resume", Protocontract_Reason="x") == (403, "a guard is resumed from its own host only\n")
    assert ask(health, "/livez")[0] == 200


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("9464", ("127.0.0.1", 9464)),
        ("0.0.0.0:9464", ("0.0.0.0", 9464)),
        ("[::]:1", ("::", 1)),
        ("a:80", ("a", 80)),
    ],
)
def test_where_it_listens(text: str, address: tuple[str, int]) -> None:
    given = ["--contract", NAME, "--source", "a", "--sink", "b", "--http", text]
    assert guard_options.guard_parser().parse_args(given).http == address


def test_ipv6() -> None:
    try:
        health = Health(new_guard(new_log()), 0, "::1")
    except OSError:
        # This host has no IPv6.
        return
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://[::1]:{health.port}/livez", timeout=120) as answer:
            assert answer.read() == b"alive\n"
    finally:
        health.close()


def test_blocked_is_not_ready() -> None:
    log = new_log()
    guard = new_guard(log, stop_at_end=False)
    health = Health(guard, 0)
    try:
        stream(log, "gb")
        log.on_send = lambda topic, _value: SendFault("fail") if topic == DEAD else None
        answers: list[tuple[int, str]] = []

        def tick() -> None:
            if guard.blocked:
                answers.append(ask(health, "/readyz"))
                log.on_send = None
                guard.stop()

        guard._tick = tick
        with guard:
            list(guard)
        status, text = answers[0]
        assert status == 503
        assert text.startswith("blocked: ")
    finally:
        health.close()


def test_a_loop_that_hangs_is_not_alive() -> None:
    guard = new_guard(new_log(), new_log().consumer(TOPIC, max_poll_interval_ms=300_000))
    health = Health(guard, 0)
    try:
        health._beat -= 301
        assert ask(health, "/livez")[0] == 503
        health.beat()
        assert ask(health, "/livez")[0] == 200
    finally:
        health.close()


def test_without_the_package_the_probes_still_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "protocontract.metrics")
    monkeypatch.delattr("protocontract.metrics")
    health = Health(new_guard(new_log()), 0)
    try:
        assert ask(health, "/livez")[0] == 200
        status, text = ask(health, "/metrics")
        assert status == 501
        assert 'pip install "protocontract[metrics]"' in text
    finally:
        health.close()
