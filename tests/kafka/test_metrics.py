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

from protocontract import metrics
from protocontract.contract import StreamLevel
from protocontract.kafka.dead_letter import DEAD_LETTER_HEADERS
from protocontract.kafka.http import REASON_HEADER, Health
from protocontract.kafka.memory import SendFault
from tests.kafka.support import BAD, DEAD, GARBAGE, NAME, TOPIC, contract, good, new_guard, new_log
from tests.kafka.test_levels import Clock, Runs, promising, stream

ORDER = ("contract", "topic", "outcome", "rule_id", "error_class", "level", "measured_from")


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
    assert seen["data_contract_warnings_total"] == {("string.max_len",): 1}
    assert seen["contract_compliance_ratio"] == {(NAME,): 0.5}
    assert seen["dead_letter_records_total"] == {(): 3}
    assert seen["data_contract_normalized_total"] == {(): 1}
    assert seen["data_contract_processing_seconds_count"] == {(): 6}
    assert seen["data_contract_processing_seconds_sum"][()] > 0
    assert seen["data_contract_lag_records"] == {(): 0}
    assert seen["data_contract_blocked"] == seen["data_contract_halted"] == {(): 0}


def test_every_metric_and_header_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`((?:data_contract|contract|dead_letter)_[a-z_]+)`", page))
    families = list(metrics.GuardCollector(new_guard(new_log())).collect())
    # Before the first fetch there is no lag.
    names = {f"{family.name}_total" if family.type == "counter" else family.name for family in families}
    assert listed == names | {"data_contract_lag_records"}
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
    assert seen["data_contract_level_promised"][NAME, "compliance", ""] == 0.9
    assert seen["data_contract_level_kept"][NAME, "compliance", ""] == 0
    assert (NAME, "latency", "CreateTime") in seen["data_contract_level_measured"]


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
        with opener.open(request, timeout=5) as answer:
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
