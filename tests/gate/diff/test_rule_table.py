"""The table of clear cases never says more than protovalidate does: on random rules, and on values that try them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from typing import Any

import pytest

from protocontract_ci.diff.compare import compare
from protocontract_ci.diff.rule_sides import Side, address
from protocontract_ci.diff.rule_table import Slot, accepts_empty, holds, implied, inverted
from protocontract_ci.facts import plain
from protocontract_ci.sources import Contracts
from tests.gate.diff.random_rules import KINDS, Judge, contracts, rule_sets


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> tuple[Contracts, list[list[dict[str, str]]]]:
    source = random.Random(11)
    sets = [rule_sets(kind, source) for kind in KINDS]
    return contracts(sets, tmp_path_factory.mktemp("rules")), sets


def slots(state: Contracts, index: int, count: int) -> Iterator[tuple[str, Slot]]:
    for at in range(count):
        name = f"t.M{index}x{at}"
        side = Side(state, name, {})
        yield name, side.slot(state.schema.messages[name].fields[0], "", KINDS[index].name)


@pytest.mark.parametrize("index", range(len(KINDS)), ids=[kind.declaration for kind in KINDS])
def test_implied_is_true(state: tuple[Contracts, list[list[dict[str, str]]]], index: int) -> None:
    loaded, sets = state
    judge = Judge(loaded)
    known = list(slots(loaded, index, len(sets[index])))
    singles = [(name, slot) for name, slot in known if len(slot.rules) == 1]
    accepted = {
        name: [value for value in KINDS[index].values if judge.accepts(name, value)] for name, _ in known
    }  # fmt: skip
    found = 0
    for (strong, slot), (weak, single) in itertools.product(known, singles):
        if inverted(slot):
            continue
        ((rule, constant),) = single.rules.items()
        if implied(rule, constant, slot):
            found += strong != weak
            broken = [value for value in accepted[strong] if value not in accepted[weak]]
            assert not broken, (dict(slot.rules), rule, constant, broken)
    assert found > 3


@pytest.mark.parametrize("index", range(len(KINDS)), ids=[kind.declaration for kind in KINDS])
def test_single_values_are_judged_as_protovalidate_does(
    state: tuple[Contracts, list[list[dict[str, str]]]], index: int
) -> None:
    loaded, sets = state
    judge = Judge(loaded)
    for name, slot in slots(loaded, index, len(sets[index])):
        if len(slot.rules) != 1:
            continue
        ((rule, constant),) = slot.rules.items()
        field = loaded.loaded.pool.FindMessageTypeByName(name).fields[0]
        for value in KINDS[index].values:
            given: Any = tuple(value) if isinstance(value, list) else value
            if field.message_type is not None:
                if value is None:
                    continue
                given = f"{value}s"
            elif not isinstance(given, tuple) and field.enum_type is None:
                given = plain(field, value)
            told = holds(rule, constant, given, slot)
            assert told in (None, judge.accepts(name, value)), (rule, constant, value)
        empty = accepts_empty(rule, constant, slot)
        assert empty in (None, judge.accepts(name, [] if slot.presence == "list" else None)), (rule, constant)


def test_addresses() -> None:
    assert address("string.min_len").name == "min_len"
    assert (address("required").kind, address("cel[a.b]").kind) == ("", "")
    parts = address("repeated.items.string.min_len")
    assert (parts.slot, parts.kind, parts.name) == ("repeated.items.", "string", "min_len")
    assert address("map.values.cel[x]").slot == "map.values."


def test_directions_are_true(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whole messages: whatever is told as tightened, loosened or neutral is so for every value that was tried."""
    source = random.Random(11)
    drawn = []
    for _ in range(2):
        sets = [rule_sets(kind, source, outside=True) for kind in KINDS]
        for of_kind in sets:
            source.shuffle(of_kind)
        drawn.append(sets)
    counts = [min(map(len, pair)) for pair in zip(*drawn, strict=True)]
    before, after = (
        contracts(
            [of_kind[:count] for of_kind, count in zip(sets, counts, strict=True)], tmp_path_factory.mktemp("side")
        )
        for sets in drawn
    )
    judges = Judge(before), Judge(after)
    directions: dict[str, set[str]] = {}
    for change in compare(before, after).changes:
        directions.setdefault(change.element.message, set()).add(change.direction)
    told = {"tightened": 0, "loosened": 0, "neutral": 0}
    for message, found in directions.items():
        values = KINDS[int(message.partition("x")[0].removeprefix("t.M"))].values
        accepted = [{at for at, value in enumerate(values) if judge.accepts(message, value)} for judge in judges]
        if found <= {"tightened", "neutral"}:
            assert accepted[1] <= accepted[0], message
        if found <= {"loosened", "neutral"}:
            assert accepted[0] <= accepted[1], message
        for direction in told:
            told[direction] += found == {direction}
    assert all(told.values()), told
