"""The example dashboard and the example alerts: they read series that are there, in expressions that promtool takes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.compiler.sources import ROOT
from tests.prometheus.support import check_rules, expect

EXAMPLES = ROOT / "docs" / "examples"
ALERTS = EXAMPLES / "prometheus" / "guard.rules.yml"
DASHBOARD: dict[str, Any] = json.loads((EXAMPLES / "grafana" / "guard.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
DOCS = (ROOT / "docs" / "observability.md").read_text()
#: Documented names with their labels, of what is exported and what is recorded.
KNOWN = {
    name: set(labels.replace(",", " ").split())
    for name, labels in re.findall(r"^\| `([\w:]+)` \| ([\w, ]*)\| ", DOCS, re.MULTILINE)
}
#: What a Prometheus server adds to every series that it scrapes.
SCRAPED = {"job", "instance"}
SERIES = re.compile(r"\b(?:\w+:)?(?:data_contract|contract|dead_letter)_[\w:]*(?:\{[^}]*\})?")


def expressions() -> list[str]:
    return [target["expr"] for panel in PANELS for target in panel.get("targets", ())]


def read(expr: str) -> list[tuple[str, set[str]]]:
    """The series that an expression reads, with the labels that it asks for."""
    found = []
    for series in SERIES.findall(expr):
        name, _, selector = series.partition("{")
        found.append((name, set(re.findall(r"(\w+)\s*=", selector))))
    return found


def family(name: str) -> str:
    """The documented name of a series: histograms and summaries have several."""
    return name if name in KNOWN else re.sub(r"_(bucket|sum|count)$", "", name)


def grouping(expr: str) -> set[str]:
    return {
        label
        for labels in re.findall(r"\b(?:by|on) \(([^)]*)\)", expr)
        for label in re.split(r"[, ]+", labels)
        if label
    }


@pytest.mark.parametrize("expr", [*expressions(), *re.findall(r"^\s+expr: (.*)$", ALERTS.read_text(), re.MULTILINE)])
def test_every_series_is_documented_with_its_labels(expr: str) -> None:
    series = read(expr)
    assert series
    labels: set[str] = {"le"}
    for name, wanted in series:
        assert family(name) in KNOWN, name
        own = KNOWN[family(name)] | (set() if ":" in name else SCRAPED)
        assert wanted <= own, (name, wanted - own)
        labels |= own
    assert grouping(expr) <= labels


def test_promtool_takes_the_expressions(tmp_path: Path) -> None:
    variables = {"$__rate_interval": "5m"}
    rules = []
    for number, expr in enumerate(expressions()):
        for name, value in variables.items():
            expr = expr.replace(name, value)  # a name for each step would tell nothing
        rules.append({"record": f"panel:{number}", "expr": expr})
    path = tmp_path / "rules.yml"
    # JSON is YAML.
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert check_rules(path) == ""


def test_the_dashboard_can_be_imported() -> None:
    ids = [panel["id"] for panel in PANELS]
    assert len(set(ids)) == len(ids)
    assert {"title", "uid", "schemaVersion", "templating", "time"} <= DASHBOARD.keys()
    known = {variable["name"] for variable in DASHBOARD["templating"]["list"]} | {"__rate_interval", "__all"}
    assert set(re.findall(r"\$\{?(\w+)", json.dumps(DASHBOARD))) <= known
    for panel in PANELS:
        refs = [target["refId"] for target in panel.get("targets", ())]
        assert len(set(refs)) == len(refs)
        assert panel["type"] in ("row", "stat", "timeseries")
        # No data source of one installation: it is chosen on top.
        assert all(target["datasource"]["uid"] == "${datasource}" for target in panel.get("targets", ()))


def test_no_panel_covers_another() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells


def test_what_the_page_tells_to_look_at_is_there() -> None:
    titles = {panel["title"] for panel in PANELS}
    told = DOCS.partition("## When an alert calls")[2].partition("\n## ")[0]
    assert set(re.findall(r"\*([A-Z][^*]+)\*", told)) <= titles


def test_every_alert_is_on_the_page() -> None:
    told = DOCS.partition("## When an alert calls")[2].partition("\n## ")[0]
    generated = set(
        re.findall(r"alert: (\w+)", "".join(map(Path.read_text, (ROOT / "generated/prometheus").iterdir())))
    )
    alerts = set(re.findall(r"alert: (\w+)", ALERTS.read_text()))
    assert alerts | generated <= set(re.findall(r"`(\w+)`", told))


def test_the_alerts_are_good() -> None:
    assert check_rules(ALERTS) == ""


@pytest.mark.parametrize(
    ("alert", "series", "fires", "rests"),
    [
        ("GuardHalted", {'data_contract_halted{instance="a"}': "0+0x60 1+0x60"}, "15m", "5m"),
        ("GuardBlocked", {'data_contract_blocked{instance="a"}': "0+0x60 1+0x60"}, "12m", "10m30s"),
        ("GuardLagGrows", {'data_contract_lag_records{instance="a"}': "0+0x60 0+1000x240"}, "45m", "20m"),
        ("GuardLosesMembership", {'data_contract_losses_total{instance="a"}': "0+0x60 0+1x10"}, "12m", "9m"),
        ("TransactionOpenLong", {"data_contract_open_transaction_age_seconds": "1+0x60 20+0x9"}, "11m", "9m"),
        ("DeadLettersTruncated", {'dead_letter_truncated_total{instance="a"}': "0+0x60 1+0x60"}, "12m", "9m"),
        (
            "DeadLetterExpiresSoon",
            {'dead_letter_oldest_unresolved_retention_seconds{instance="a", topic="dead"}': "90000-100x120"},
            "15m",
            "3m",
        ),
        (
            "ContractVersionsDiffer",
            {
                'data_contract_guard_info{contract="c", group="g", fingerprint="1", instance="a"}': "1+0x400",
                'data_contract_guard_info{contract="c", group="g", fingerprint="2", instance="b"}': "1+0x400",
                'data_contract_guard_info{contract="d", group="g", fingerprint="3", instance="b"}': "1+0x400",
            },
            "40m",
            "20m",
        ),
    ],
)  # fmt: skip
def test_an_alert_fires(alert: str, series: dict[str, str], fires: str, rests: str, tmp_path: Path) -> None:
    expr = f'count(ALERTS{{alertname="{alert}", alertstate="firing"}})'
    expect(tmp_path, ALERTS, series, [(fires, expr, {"": 1}), (rests, expr, {})])
