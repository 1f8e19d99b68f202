"""The series that the generated rules read are those that a guard exports."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from protocontract import metrics
from protocontract.kafka import Guard
from protocontract.kafka.memory import MemoryLog
from protocontract_compiler.dynamic import load_protos
from tests.prometheus.support import NAME, rules_of
from tests.prometheus.test_rules import LEVELS

NOW = 1_700_000_000.0


def exported(contract: Any) -> list[tuple[str, dict[str, str], float]]:
    """What a scrape sees of a guard that has judged a good record, a late one and a bad one."""
    log = MemoryLog()
    for topic in ("orders", "orders.dead"):
        log.create_topic(topic)
    message = contract.message_type(id="1")
    for late in (0, 100):
        message.at.FromSeconds(int(NOW) - late)
        log.append("orders", message.SerializeToString())
    log.append("orders", b"\xff")
    guard: Guard[Any] = Guard(
        log.consumer("orders"), contract, dead_letters=log.producer, stop_at_end=True, clock=lambda: NOW
    )
    collector = metrics.GuardCollector(guard)
    with guard:
        list(guard)
        text = metrics.exposition(collector).decode()
    return [
        (sample.name, sample.labels, sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]


def test_every_series_of_the_rules_is_exported(tmp_path: Path) -> None:
    rules = rules_of(LEVELS, tmp_path)[f"{NAME}.rules.yml"]
    contract = load_protos([tmp_path / "order.proto"], tmp_path)[NAME]
    samples = exported(contract)
    read = set(re.findall(r"(?<![\w:])(data_contract_\w+)\{(.*?)\}", rules))
    assert {name for name, _ in read} == {
        "data_contract_judged_records_total", "data_contract_late_records_total", "data_contract_level_measured",
        "data_contract_last_record_timestamp_seconds", "data_contract_watched_since_timestamp_seconds",
        "data_contract_guard_info",
    }  # fmt: skip
    for name, selector in read:
        wanted = dict(re.findall(r'(\w+)="(.*?)"', selector))
        for label, other in re.findall(r'(\w+)!="(.*?)"', selector):
            # What the guard exports is what the rules were compiled from.
            assert [labels[label] for sample, labels, _ in samples if sample == name] == [other]
        found = [labels for sample, labels, _ in samples if sample == name and wanted.items() <= labels.items()]
        assert found, (name, selector)
        # What the rules group by.
        assert all({"contract", "group"} <= labels.keys() for labels in found)


def test_what_they_hold(tmp_path: Path) -> None:
    rules_of(LEVELS, tmp_path)
    samples = {
        (name, labels.get("verdict") or labels.get("le", "")): value
        for name, labels, value in exported(load_protos([tmp_path / "order.proto"], tmp_path)[NAME])
    }
    assert samples["data_contract_judged_records_total", "valid"] == 2
    assert samples["data_contract_judged_records_total", "broken"] == 1
    assert samples["data_contract_late_records_total", ""] == 1
    assert samples["data_contract_last_record_timestamp_seconds", ""] == NOW
    assert samples["data_contract_watched_since_timestamp_seconds", ""] == NOW
    # A bound of the histogram is the promise: 60 s.
    assert samples["data_contract_event_delay_seconds_bucket", "60.0"] == 1
    assert samples["data_contract_event_delay_seconds_bucket", "+Inf"] == 2
    assert samples["data_contract_event_delay_seconds_sum", ""] == 100


def test_counters_begin_at_nought(tmp_path: Path) -> None:
    """Else what was counted before the second scrape of a new process would not be seen."""
    rules_of(LEVELS, tmp_path)
    contract = load_protos([tmp_path / "order.proto"], tmp_path)[NAME]
    log = MemoryLog()
    log.create_topic("orders")
    guard: Guard[Any] = Guard(log.consumer("orders"), contract, dead_letters=log.producer)
    text = metrics.exposition(metrics.GuardCollector(guard)).decode()
    own = f'contract="{NAME}",group="group"'
    assert f'data_contract_judged_records_total{{{own},verdict="broken"}} 0.0' in text
    assert f'data_contract_judged_records_total{{{own},verdict="valid"}} 0.0' in text
    assert f"data_contract_late_records_total{{{own}}} 0.0" in text
    assert "data_contract_watched_since_timestamp_seconds{" not in text
