"""The table of ``make scenarios``: each failure scenario, its guarantees, where it ran, and what came out.

A test stands for scenarios by its mark ``scenario``, or by its name in ``STANDS_FOR``.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.kafka.scenario_table import CASES, MORE, STANDS_FOR

_PROPERTY = "scenario"
#: In this order in the table. What a test needs says where it ran.
_PLACES = ("memory", "broker", "own broker", "registry", "chaos")


def _place(item: pytest.Item) -> str:
    if item.get_closest_marker("toxiproxy"):
        return "chaos"
    if "registry" in item.nodeid.split("/"):
        return "registry"
    if item.get_closest_marker("own_broker"):
        return "own broker"
    return "broker" if item.get_closest_marker("kafka") else "memory"


def _stands_for(item: pytest.Item) -> list[str]:
    names = [name for mark in item.iter_markers("scenario") for name in mark.args]
    return [*names, *STANDS_FOR.get(getattr(item, "originalname", item.name), ())]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Under PROTOCONTRACT_SCENARIOS=only, run only what stands for a scenario."""
    if os.environ.get("PROTOCONTRACT_SCENARIOS") == "only":
        others = [item for item in items if not _stands_for(item)]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if _stands_for(item)]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note on the report which scenarios its test stands for."""
    report = yield
    report.user_properties += [(_PROPERTY, (name, _place(item))) for name in _stands_for(item)]
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print the table where PROTOCONTRACT_SCENARIOS is "only" or "table"; any other name is a file for its data."""
    wanted = os.environ.get("PROTOCONTRACT_SCENARIOS")
    if not wanted:
        return
    found = outcomes(terminalreporter.stats)
    if wanted not in ("only", "table"):
        Path(wanted).write_text(json.dumps(found))
        return
    terminalreporter.write_line("")
    for line in table(merged([found])):
        terminalreporter.write_line(line)


#: What came out of the tests that stand for a scenario: scenario, place, outcome.
Outcome = tuple[str, str, str]


def outcomes(stats: dict[str, list[Any]]) -> list[Outcome]:
    """Those of a run, from pytest's reports by outcome."""
    return [
        (*value, outcome)
        for outcome in ("passed", "failed", "error", "skipped")
        for report in stats.get(outcome, ())
        # A file that could not be collected has none.
        for name, value in getattr(report, "user_properties", ())
        if name == _PROPERTY
    ]


def merged(runs: Iterable[list[Outcome]]) -> dict[str, dict[str, set[str]]]:
    """Those of several runs, by scenario and place."""
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for run in runs:
        for scenario, place, outcome in run:
            found[scenario][place].add(outcome)
    return found


def table(found: dict[str, dict[str, set[str]]]) -> list[str]:
    """The lines."""
    lines = [f"{'':5} {'guarantees':16} {'verdict':40} scenario"]
    for name, case in {**CASES, **MORE}.items():
        places = found.get(name, {})
        verdict = ", ".join(f"{_verdict(places[place])} ({place})" for place in _PLACES if place in places)
        lines.append(f"{name:5} {' '.join(case['guarantees']):16} {verdict or 'not run':40} {case['title']}")
    return lines


def _verdict(outcomes: set[str]) -> str:
    if outcomes & {"failed", "error"}:
        return "BROKEN"
    return "kept" if "passed" in outcomes else "not run"
