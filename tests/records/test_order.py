"""Which sample comes when, and for whom: arithmetic, without PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocontract.torch.order import (
    Buffered,
    InOrder,
    Permutation,
    Permuted,
    Plan,
    Step,
    Uneven,
    UnevenError,
    shuffled,
)

PINNED = [1, 0, 8, 3, 4, 6, 9, 7, 2, 5]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 16, 17, 100, 1_000, 4_097])
def test_a_permutation_has_every_number_once(count: int) -> None:
    found = Permutation(count, 7, 0).numbers(0, count)
    assert sorted(found) == list(range(count))


def test_a_permutation_follows_from_seed_and_epoch() -> None:
    # Written out: the order of a run that is resumed must not change with a version of anything.
    assert Permutation(10, 0, 0).numbers(0, 10) == PINNED
    found = {tuple(Permutation(100, seed, epoch).numbers(0, 100)) for seed in range(3) for epoch in range(3)}
    assert len(found) == 9


def test_places_are_spread_evenly() -> None:
    count, epochs = 8, 2_000
    seen = [[0] * count for _ in range(count)]
    for epoch in range(epochs):
        for place, number in enumerate(Permutation(count, 3, epoch).numbers(0, count)):
            seen[place][number] += 1
    expected = epochs / count
    chi_squared = sum((number - expected) ** 2 / expected for row in seen for number in row)
    # 49 degrees of freedom: 0.1 % of the draws of a fair shuffle are above 85.4.
    assert chi_squared < 85.4


@given(st.integers(1, 60), st.integers(1, 80), st.integers(0, 5))
def test_a_shuffle_buffer_keeps_all_items(count: int, size: int, seed: int) -> None:
    found = list(shuffled(range(count), size, seed, 0))
    assert sorted(found) == list(range(count))
    # An item comes out no earlier than it can be in the buffer.
    assert all(number - place < size for place, number in enumerate(found))
    assert found == list(shuffled(range(count), size, seed, 0))


def test_a_buffer_of_one_keeps_the_order_and_a_large_one_does_not() -> None:
    assert list(shuffled(range(100), 1, 0, 0)) == list(range(100))
    assert list(shuffled(range(100), 50, 0, 0)) != list(shuffled(range(100), 50, 0, 1))


@pytest.mark.parametrize("order", [InOrder(), Permuted(50, 1), Buffered(50, 9, 1)])
def test_places_can_be_asked_for_in_any_order(order: Any) -> None:
    whole = [*order.samples(2, 0, 50)]
    assert [*order.samples(2, 30, 50), *order.samples(2, 10, 30), *order.samples(2, 0, 10)] == [
        *whole[30:], *whole[10:30], *whole[:10],
    ]  # fmt: skip
    order.samples(3, 0, 5)
    assert order.samples(2, 40, 45) == whole[40:45]


def plans(samples: int, batch_size: int, world_size: int, uneven: Uneven, **more: Any) -> list[Plan]:
    options = {"drop_last": False, "start": 0, **more}
    return [
        Plan(samples, batch_size=batch_size, world_size=world_size, rank=rank, uneven=uneven, **options)
        for rank in range(world_size)
    ]


@given(st.integers(1, 40), st.integers(1, 7), st.integers(1, 5), st.sampled_from(["drop", "repeat"]), st.booleans())
def test_every_rank_makes_as_many_steps_and_every_sample_is_delivered_or_dropped_once(
    samples: int, batch_size: int, world_size: int, uneven: Uneven, drop_last: bool
) -> None:
    try:
        found = plans(samples, batch_size, world_size, uneven, drop_last=drop_last)
    except UnevenError:
        return
    steps = [list(plan.steps(0)) for plan in found]
    assert len({len(each) for each in steps}) == 1
    assert all(len(each) == plan.rounds for each, plan in zip(steps, found, strict=True))
    once = [place for each in steps for step in each for place in step.dropped]
    for plan, each in zip(found, steps, strict=True):
        once += [place for step in each if not step.repeated for place in range(*plan.bounds(step.batch))]
    assert sorted(once) == list(range(samples))
    # In turns: the batches of a round stand side by side.
    in_turns = [each[round_] for round_ in range(found[0].rounds) for each in steps]
    assert [step.batch for step in in_turns if not step.repeated] == list(range(sum(not s.repeated for s in in_turns)))


def test_drop_and_repeat_are_about_the_last_round() -> None:
    assert [list(plan.steps(4)) for plan in plans(9, 2, 2, "drop")] == [
        [Step(4, 0), Step(4, 2, dropped=(8,))],
        [Step(4, 1), Step(4, 3)],
    ]
    assert [list(plan.steps(4)) for plan in plans(9, 2, 2, "repeat")] == [
        [Step(4, 0), Step(4, 2), Step(4, 4)],
        [Step(4, 1), Step(4, 3), Step(4, 0, repeated=True)],
    ]


def test_error_is_raised_by_every_rank() -> None:
    for rank in range(2):
        with pytest.raises(UnevenError, match="the last round has 1 batch for 2 ranks; say what to do"):
            Plan(9, batch_size=2, drop_last=False, world_size=2, rank=rank, uneven="error", start=0)
    with pytest.raises(UnevenError, match="nothing is left under uneven='drop'"):
        plans(3, 2, 4, "drop")
    with pytest.raises(UnevenError, match="drop_last leaves no batch of 8: there are 3 samples"):
        plans(3, 8, 1, "error", drop_last=True)


@given(st.integers(1, 60), st.integers(1, 5), st.integers(1, 4), st.integers(1, 4), st.integers(0, 8))
def test_another_number_of_ranks_goes_on_where_the_first_stopped(
    samples: int, batch_size: int, before: int, after: int, rounds: int
) -> None:
    first = plans(samples, batch_size, before, "repeat")
    rounds = min(rounds, first[0].rounds)
    position = first[0].position(rounds)
    assert all(plan.position(rounds) == position for plan in first)
    seen = [step.batch for plan in first for step in [*plan.steps(0)][:rounds] if not step.repeated]
    second = plans(samples, batch_size, after, "repeat", start=position)
    seen += [step.batch for plan in second for step in plan.steps(0) if not step.repeated]
    assert sorted(seen) == list(range(first[0].batches))
