"""Sequences: first, step, strictly increasing, length."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocontract.relations import sequence
from protocontract.violations import OptionError, Refused
from tests.examples import examples


def breaks(values: Any, other: int | None = None, **options: Any) -> list[tuple[str, int | None]]:
    found = sequence.checker(**options)(values, other)
    assert found is None or found
    return [(refusal.rule_id, refusal.index) for refusal in found or ()]


@pytest.mark.parametrize(
    ("values", "options", "expected"),
    [
        ([0, 1, 2, 3], {"first": 0, "step": 1}, []),
        ([0, 1, 2, 3], {"step": 1}, []),
        ([], {"step": 1}, []),
        ([1, 2, 3], {"step": 1}, [("sequence.step", 0)]),
        ([0, 1, 3, 4, 6], {"step": 1}, [("sequence.step", 2), ("sequence.step", 4)]),
        ([5, 9, 7], {"first": 5}, []),
        ([9, 5], {"first": 5}, [("sequence.step", 0)]),
        ([10, 8, 6], {"first": 10, "step": -2}, []),
        ([7, 7, 7], {"first": 7, "step": 0}, []),
        ([1, 5, 5, 9, 2], {"strictly_increasing": True}, [("sequence.step", 2), ("sequence.step", 4)]),
        ([0, "1"], {"step": 1}, [("sequence.step", 1)]),
        ([(1 << 63) - 1, -(1 << 63)], {"strictly_increasing": True}, [("sequence.step", 1)]),
    ],
)
def test_law(values: Any, options: dict[str, Any], expected: list[tuple[str, int]]) -> None:
    assert breaks(values, **options) == expected


def test_length() -> None:
    assert breaks([0, 1], 2, step=1) == []
    assert breaks([], 2) == [("sequence.length", None)]
    assert breaks([0, 2], 3, step=1, same_length_as="tokens") == [("sequence.length", None), ("sequence.step", 1)]


def test_a_length_alone_is_asked_of_any_list() -> None:
    """`same_length_as` stands on repeated fields of every type."""
    find = sequence.checker(same_length_as="other")
    assert find([0.5, 1.5], 2) is None
    assert find(["a"], 1) is None
    assert [refusal.rule_id for refusal in find([0.5], 2) or []] == ["sequence.length"]


def test_check_raises_the_first_break() -> None:
    sequence.check([0, 1, 2], step=1, same_length_as=3)
    with pytest.raises(Refused) as refused:
        sequence.check([0, 2, 2], step=1)
    assert (refused.value.rule_id, refused.value.index) == ("sequence.step", 1)


@pytest.mark.parametrize("options", [{"step": 0, "strictly_increasing": True}, {"first": "0"}, {"step": True}])
def test_wrong_options_are_option_errors(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError):
        sequence.checker(**options)


@settings(max_examples=examples(300), derandomize=True)
@given(st.lists(st.integers(-5, 5)), st.integers(-5, 5), st.integers(-3, 3))
def test_a_sequence_is_good_exactly_where_the_formula_holds(values: list[int], first: int, step: int) -> None:
    good = all(value == first + at * step for at, value in enumerate(values))
    assert (breaks(values, first=first, step=step) == []) is good
    rising = all(after > before for before, after in pairwise(values))
    assert (breaks(values, strictly_increasing=True) == []) is rising
