"""Graphs: identities, missing parents, cycles; linear, and on a stack of our own."""

from __future__ import annotations

from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.relations import graph
from protocontract.violations import Refused
from tests.examples import examples
from tests.support.timing import seconds, within


def breaks(ids: Any, parents: Any, **options: bool) -> list[tuple[str, int | None]]:
    options = options or {"acyclic": True, "closed": True}
    return [(refusal.rule_id, refusal.index) for refusal in graph.checker(**options)(ids, parents) or ()]


@pytest.mark.parametrize(
    ("ids", "parents", "expected"),
    [
        ([], [], []),
        (["a", "b", "c"], [[], ["a"], ["a", "b"]], []),
        (["c", "a"], [["a"], []], []),
        (["a"], [["a"]], [("graph.cycle", 0)]),
        (["a", "b"], [["b"], ["a"]], [("graph.cycle", 1)]),
        (["a", "b"], [["x", "y"], ["a"]], [("graph.missing", 0)]),
        (["a", "a"], [[], []], [("graph.duplicate", 1)]),
        (["a", "b"], ["", "a"], []),
        (["a", "b"], ["", "x"], [("graph.missing", 1)]),
        (["a", "b"], [[""], []], [("graph.missing", 0)]),
        ([0, 1, 2], [0, 0, 1], []),
        ([0, 1], [1, 0], [("graph.cycle", 1)]),
        ([1, 2], [None, 1], []),
        ([1, 2], [[]], []),
    ],
)
def test_graphs(ids: Any, parents: Any, expected: list[tuple[str, int]]) -> None:
    assert breaks(ids, parents) == expected


def test_options_are_off_unless_declared() -> None:
    assert breaks(["a"], [["a", "x"]], acyclic=False) == []
    assert breaks(["a"], [["a", "x"]], closed=True) == [("graph.missing", 0)]
    with pytest.raises(Refused) as refused:
        graph.check(["a"], [["a"]], acyclic=True)
    assert refused.value.rule_id == "graph.cycle"


def test_linear_and_without_recursion() -> None:
    def whole(count: int, last: list[int]) -> Callable[[], None]:
        parents = [[at + 1] for at in range(count - 1)] + [last]

        def work() -> None:
            assert breaks(range(count), parents) == ([("graph.cycle", count - 1)] if last else [])

        return work

    small = min(seconds(whole(10_000, [])) for _ in range(3))
    assert within(50 * small, whole(100_000, []))  # linear is 10, quadratic 100
    whole(100_000, [0])()


@settings(max_examples=examples(500), derandomize=True)
@given(st.lists(st.lists(st.integers(0, 7), max_size=3), max_size=8))
def test_the_standard_library_agrees(parents: list[list[int]]) -> None:
    count = len(parents)
    found = {rule_id for rule_id, _ in breaks(range(count), parents)}
    inside = {at: [parent for parent in own if parent < count] for at, own in enumerate(parents)}
    assert ("graph.missing" in found) is any(parent >= count for own in parents for parent in own)
    try:
        TopologicalSorter(inside).prepare()
    except CycleError:
        assert "graph.cycle" in found
    else:
        assert "graph.cycle" not in found
