"""The generated rules, evaluated by promtool over series with and without a breach."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.prometheus.support import NAME, PROTO, check_rules, expect, rules_of, run_tests

LEVELS = """level: {
      compliance: 0.99 latency: {seconds: 60} frequency: {seconds: 30} throughput: 2 error_rate: 0.02
      window: {seconds: 600} minimum_records: 1000
    }"""
ALERTS = {
    level: f"DataContract{words}Missed"
    for level, words in (
        ("compliance", "Compliance"),
        ("error_rate", "ErrorRate"),
        ("latency", "Latency"),
        ("frequency", "Frequency"),
        ("throughput", "Throughput"),
    )
}


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rules")
    files = rules_of(LEVELS, folder)
    assert list(files) == [f"{NAME}.rules.yml"]
    path = folder / f"{NAME}.rules.yml"
    path.write_text(files[path.name])
    return path


def series(
    *,
    valid: str = "0+50x150",
    broken: str = "0+0x150",
    late: str = "0+0x150",
    last: str = "0+10x150",
    since: str = "0+0x150",
    delay: str = "5+0x150",
    instance: str = "a",
    group: str = "ledger",
) -> dict[str, str]:
    """What Prometheus scrapes of one process in 25 minutes: five records a second, all of them good."""
    own = f'contract="{NAME}", group="{group}", instance="{instance}", job="guard"'
    found = {
        f'data_contract_judged_records_total{{{own}, verdict="valid"}}': valid,
        f'data_contract_judged_records_total{{{own}, verdict="broken"}}': broken,
        f"data_contract_late_records_total{{{own}}}": late,
        f"data_contract_last_record_timestamp_seconds{{{own}}}": last,
        f"data_contract_watched_since_timestamp_seconds{{{own}}}": since,
        f'data_contract_level_measured{{{own}, level="latency", measured_from="at"}}': delay,
    }
    return {name: values for name, values in found.items() if values}


def firing(level: str, *groups: str) -> tuple[str, dict[str, float]]:
    """An expression for the groups whose alert of a level fires, and what it gives."""
    expr = f'count by (group) (ALERTS{{alertname="{ALERTS.get(level, level)}", alertstate="firing"}})'
    return expr, {f'{{group="{group}"}}': 1 for group in groups}


def test_the_rules_are_good(rules: Path) -> None:
    assert check_rules(rules) == ""


QUIET_FROM_15M = "0+10x90 900+0x60"
#: What is scraped, and by level the times at which its alert fires, and does not fire.
CASES = {
    "all is kept": (series(), {level: ([], ["5m", "20m"]) for level in ALERTS}),
    "exactly what is promised": (
        series(valid="0+99x150", broken="0+1x150"),
        {"compliance": ([], ["20m"]), "error_rate": ([], ["20m"])},
    ),
    "too many bad records": (
        series(valid="0+97x150", broken="0+3x150"),
        {"compliance": (["20m"], []), "error_rate": (["20m"], []), "latency": ([], ["20m"])},
    ),
    "bad enough for one level only": (
        series(valid="0+197x150", broken="0+3x150"),
        {"compliance": (["20m"], []), "error_rate": ([], ["20m"])},
    ),
    "too few records to judge shares and latency": (
        series(valid="0+1x150", broken="0+1x150", late="0+1x150"),
        {"compliance": ([], ["20m"]), "error_rate": ([], ["20m"]), "latency": ([], ["20m"])},
    ),
    "bad records that have left the window": (
        series(broken="0+50x30 1500+0x120"),
        {"compliance": (["5m", "14m"], ["20m"])},
    ),
    "a late record": (series(late="0+0x60 1+0x90"), {"latency": (["11m", "19m"], ["9m", "22m"])}),
    "a late record before the first scrape": (
        series(late="3+0x150", delay="75+0x60 5+0x90"),
        {"latency": (["5m"], ["15m"])},
    ),
    "the process that was late is gone": (
        series(late="0+0x30 1+0x20", delay="5+0x30 75+0x20") | series(instance="b", valid="0+50x150"),
        {"latency": (["14m"], ["20m"])},
    ),
    "a member that was late and has no partitions any more": (
        series() | series(instance="b", delay="75+0x150", late="0+0x150", valid="0+0x150", since="0+0x20", last=""),
        {"latency": (["5m"], ["10m", "20m"])},
    ),
    "silence": (series(last=QUIET_FROM_15M), {"frequency": (["16m", "20m"], ["14m", "15m20s"])}),
    "a silence that has left the window": (
        series(last="0+10x30 300+0x10 410+10x110"),
        {"frequency": (["7m", "14m"], ["5m", "18m"])},
    ),
    "one of two members has nothing to read": (
        series() | series(instance="b", valid="0+0x150", last=""),
        {"frequency": ([], ["20m"])},
    ),
    "the member with the records is gone, the other one goes on": (
        series(valid="0+50x80", broken="0+0x80", late="", last="0+10x80", since="0+0x80", delay="")
        | series(instance="b", valid="0+0x81 0+50x68", last="_x81 820+10x68"),
        {"frequency": ([], ["13m10s", "14m", "20m"])},
    ),
    "a member that begins does not end a silence": (
        series(last=QUIET_FROM_15M) | series(instance="b", since="_x96 960+0x50", valid="_x96 0+0x50", last=""),
        {"frequency": (["17m"], [])},
    ),
    "nobody watches: halted": (series(last=QUIET_FROM_15M, since="0+0x91"), {"frequency": ([], ["22m"])}),
    "watched again after a while without guards": (
        series(last="0+10x30 _x59 900+10x60", since="0+0x30 _x59 900+0x60"),
        {"frequency": ([], ["15m", "16m", "20m"]), "throughput": ([], ["16m", "20m"])},
    ),
    "too slow": (series(valid="0+10x150"), {"throughput": (["20m"], ["5m", "9m50s"])}),
    "fast enough together": (
        series(valid="0+12x150") | series(valid="0+12x150", instance="b"),
        {"throughput": ([], ["20m"])},
    ),
    "a process that is started again": (
        series(valid="0+50x70 0+50x79", broken="0+1x70 0+0x79", since="0+0x70 710+0x79"),
        {"compliance": (["8m"], ["24m"]), "throughput": ([], ["20m", "24m"])},
    ),
    "all guards are gone": (
        series(**dict.fromkeys(("valid", "broken", "late", "last", "since", "delay"), "0+10x30")),
        {"DataContractUnwatched": (["20m"], ["5m", "9m"]), "frequency": ([], ["20m"])},
    ),
    "guards that are scraped": (series(), {"DataContractUnwatched": ([], ["5m", "20m"])}),
}


@pytest.mark.parametrize("case", CASES)
def test_alerts_fire_when_a_level_is_missed_and_not_otherwise(case: str, rules: Path, tmp_path: Path) -> None:
    scraped, levels = CASES[case]
    expected = []
    for level, (fires, rests) in levels.items():
        expected += [(time, *firing(level, "ledger")) for time in fires]
        expected += [(time, *firing(level)) for time in rests]
    expect(tmp_path, rules, scraped, expected)


def test_rules_of_another_contract_are_told(rules: Path, tmp_path: Path) -> None:
    own = re.findall(r'fingerprint!="(\w{64})"', rules.read_text())[0]
    guards = (
        f'contract="{NAME}", group="{group}", version="{version}", fingerprint="{sha}"'
        for group, version, sha in (("ledger", "2.0.0", own), ("fraud", "1.9.0", "ab" * 32))
    )
    scraped = {f"data_contract_guard_info{{{labels}}}": "1+0x600" for labels in guards}
    expect(
        tmp_path,
        rules,
        scraped,
        [("70m", *firing("DataContractRulesOutdated", "fraud")), ("50m", *firing("DataContractRulesOutdated"))],
    )


def test_groups_are_judged_apart(rules: Path, tmp_path: Path) -> None:
    scraped = series() | series(group="fraud", valid="0+45x150", broken="0+5x150")
    expect(
        tmp_path,
        rules,
        scraped,
        [("20m", *firing("compliance", "fraud")), ("20m", *firing("throughput")), ("20m", *firing("latency"))],
    )


def test_what_is_recorded(rules: Path, tmp_path: Path) -> None:
    labels = f'contract="{NAME}", group="ledger"'
    measured, kept = (f"contract_group:data_contract_level_{word}:window" for word in ("measured", "kept"))
    promised = "contract:data_contract_level_promised:window"
    figures = {"compliance": 0.98, "error_rate": 0.02, "latency": 5, "frequency": 0, "throughput": 5}
    bounds = {"compliance": 0.99, "error_rate": 0.02, "latency": 60, "frequency": 30, "throughput": 2}
    expect(
        tmp_path,
        rules,
        series(valid="0+49x150", broken="0+1x150"),
        [
            (
                "20m",
                f"round({measured}, 0.0001)",
                {f'{{{labels}, level="{level}"}}': figure for level, figure in figures.items()},
            ),
            ("20m", kept, {f'{kept}{{{labels}, level="{level}"}}': float(level != "compliance") for level in figures}),
            (
                "20m",
                promised,
                {f'{promised}{{contract="{NAME}", level="{level}"}}': bound for level, bound in bounds.items()},
            ),
        ],
    )


def test_what_an_alert_says(tmp_path: Path) -> None:
    level = LEVELS.replace("0.99", "0.999") + " on_breach: HALT"
    files = rules_of(level, tmp_path, proto=PROTO.replace("orders@shop", "{{orders}}@shop"))
    path = tmp_path / "rules.yml"
    path.write_text(files[f"{NAME}.rules.yml"])
    scraped = series(valid="0+49x150", broken="0+1x150")
    alert = {
        "exp_labels": {
            "contract": NAME, "group": "ledger", "level": "compliance", "severity": "critical", "on_breach": "HALT",
            "owner": "{{orders}}@shop.example",
        },
        "exp_annotations": {
            "summary": f"{NAME} 2.0.0: compliance is missed in group ledger: 0.98, promised 0.999",
            "description": "Owner: {{orders}}@shop.example. Contract (order.proto:6), over 600 s: at least 0.999 of "
            "the records keep the contract; judged from 1,000 records on. To do: see which rules are broken "
            "(data_contract_violations_total by rule_id), look at the records with "
            "`protocontract dead-letter inspect orders.dead --last 20`, and have the producer or the contract mended. "
            "on_breach is HALT: guards stop before the record that misses a level; `protocontract guard status` tells "
            "where, `protocontract guard resume --reason` goes on.",
        },
    }  # fmt: skip
    run_tests(
        tmp_path,
        {
            "rule_files": [str(path)],
            "evaluation_interval": "10s",
            "tests": [
                {
                    "interval": "10s",
                    "input_series": [{"series": name, "values": values} for name, values in scraped.items()],
                    "alert_rule_test": [{"eval_time": "20m", "alertname": ALERTS["compliance"], "exp_alerts": [alert]}],
                }
            ],
        },
    )
