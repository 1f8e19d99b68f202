"""Two real ranks of a gloo group, with workers: the same samples, as many steps, and nobody waits for anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as distributed

from protocontract.torch import ContractLoader, ContractStream, RecordViolation, UnevenError
from tests.engines.loader.support import (
    BY_RULE,
    COUNT,
    GOOD,
    Batches,
    chunks,
    dataset,
    files,
    flat,
    in_turns,
    numbers,
    on_ranks,
    quarantined,
)
from tests.support.samples import TEXT_SAMPLE, is_bad, text_samples

WORLD = 2


def train(loader: ContractLoader, epochs: int = 1) -> tuple[list[Batches], Any]:
    """Training as it is done on several ranks: each step waits for the others."""
    found: list[Batches] = []
    for _ in range(epochs):
        found.append([])
        for batch in loader:
            steps = torch.ones(1)
            distributed.all_reduce(steps)
            assert steps.item() == WORLD
            found[-1].append(batch)
    return found, loader.report()


def of_files(folder: Path, policy: str, workers: int, batch_size: int, **options: Any) -> Any:
    loader = ContractLoader(
        dataset(folder, policy), batch_size, num_workers=workers, collate_fn=numbers, shuffle=True, seed=3, **options
    )
    return train(loader, epochs=2)


@pytest.mark.parametrize("workers", [0, 1, 4])
@pytest.mark.parametrize("policy", ["skip", "quarantine"])
def test_ranks_share_the_batches_of_one_process(tmp_path: Path, policy: str, workers: int) -> None:
    files(tmp_path)
    alone = ContractLoader(dataset(tmp_path), 19, collate_fn=numbers, shuffle=True, seed=3)
    expected = [[batch for batch in alone], [batch for batch in alone]]  # noqa: C416  # list() asks for the length too
    assert len(expected[0]) % WORLD == 0
    found = on_ranks(tmp_path, WORLD, of_files, tmp_path, policy, workers, 19)
    assert [in_turns([epochs[epoch] for epochs, _ in found]) for epoch in range(2)] == expected
    counts = [report.counts for _, report in found]
    assert [each.used for each in counts] == [len(GOOD) // WORLD] * WORLD
    assert sum(each.read for each in counts) == COUNT
    assert counts[0].by_rule + counts[1].by_rule == BY_RULE
    if policy == "quarantine":
        assert (tmp_path / "rejects.rank0.jsonl").exists()
        # Two epochs, each bad record once in each, in the file of one of the ranks.
        assert sorted(quarantined(tmp_path)) == sorted([*filter(is_bad, range(COUNT))] * 2)


def test_all_ranks_raise_for_a_bad_record(tmp_path: Path) -> None:
    files(tmp_path)
    for error in on_ranks(tmp_path, WORLD, of_files, tmp_path, "raise", 1, 19):
        assert isinstance(error, RecordViolation)
        assert error.place.number == 20


@pytest.mark.parametrize("workers", [0, 2])
def test_an_uneven_last_round(tmp_path: Path, workers: int) -> None:
    files(tmp_path)
    # 950 samples: 29 batches of 32 and one of 22, or 31 of 31 with one batch too many for two ranks.
    for error in on_ranks(tmp_path, WORLD, of_files, tmp_path, "skip", workers, 31):
        assert isinstance(error, UnevenError)
        assert "the last round has 1 batch for 2 ranks" in str(error)
    for uneven, counted in (("drop", "dropped"), ("repeat", "repeated")):
        found = on_ranks(tmp_path, WORLD, _uneven, tmp_path, workers, uneven)
        first, second = (epochs[0] for epochs, _ in found)
        assert len(first) == len(second) == (15 if uneven == "drop" else 16)
        alone = ContractLoader(dataset(tmp_path), 31, collate_fn=numbers, shuffle=True, seed=3)
        expected = [batch for batch in alone]  # noqa: C416
        extra = [expected[0]] if uneven == "repeat" else []
        assert in_turns([first, second]) == (expected + extra)[: 2 * len(first)]
        counts = [report.counts for _, report in found]
        assert sum(each.read for each in counts) == COUNT
        assert sum(getattr(each, counted) for each in counts) == (950 - 30 * 31 if uneven == "drop" else 31)
        assert counts[0].by_rule + counts[1].by_rule == BY_RULE


def _uneven(folder: Path, workers: int, uneven: str) -> Any:
    return of_files(folder, "skip", workers, 31, uneven=uneven)


# -- streams of what cannot be indexed


def stream(policy: str, folder: Path, count: int, **options: Any) -> ContractStream[Any]:
    return ContractStream.from_iterable(
        text_samples(count),
        TEXT_SAMPLE,
        on_violation=policy,  # type: ignore[arg-type]  # one of the three
        quarantine=folder / "rejects.jsonl" if policy == "quarantine" else None,
        name="queue",
        **options,
    )


def of_stream(folder: Path, policy: str, workers: int, count: int, options: dict[str, Any]) -> Any:
    loader = ContractLoader(
        stream(policy, folder, count, **options), 19, num_workers=workers, collate_fn=numbers, seed=3
    )
    return train(loader, epochs=2)


@pytest.mark.parametrize("workers", [0, 1, 4])
@pytest.mark.parametrize("policy", ["skip", "quarantine"])
def test_ranks_share_a_stream(tmp_path: Path, policy: str, workers: int) -> None:
    options = {"shuffle_buffer": 60}
    alone = ContractLoader(stream("skip", tmp_path, COUNT, **options), 19, collate_fn=numbers, seed=3)
    expected = [[batch for batch in alone], [batch for batch in alone]]  # noqa: C416
    assert sorted(flat(expected[0])) == GOOD
    found = on_ranks(tmp_path, WORLD, of_stream, tmp_path, policy, workers, COUNT, options)
    assert [in_turns([epochs[epoch] for epochs, _ in found]) for epoch in range(2)] == expected
    counts = [report.counts for _, report in found]
    assert sum(each.read for each in counts) == COUNT
    assert counts[0].by_rule + counts[1].by_rule == BY_RULE
    if policy == "quarantine":
        assert sorted(quarantined(tmp_path)) == sorted([*filter(is_bad, range(COUNT))] * 2)


@pytest.mark.parametrize("workers", [0, 4])
def test_all_ranks_raise_in_the_same_step_of_a_stream(tmp_path: Path, workers: int) -> None:
    """Record 20 is bad, in the first round: neither rank waits for the other in a step that it never makes."""
    for error in on_ranks(tmp_path, WORLD, of_stream, tmp_path, "raise", workers, COUNT, {}):
        assert isinstance(error, RecordViolation)
        assert str(error).startswith("queue record 20: 1 violation of the contract\n")
        assert error.violations[0].rule_id == "spans.bounds"


@pytest.mark.parametrize("workers", [0, 3])
@pytest.mark.parametrize(("uneven", "steps"), [("error", None), ("drop", 24), ("repeat", 25)])
def test_an_uneven_end_of_a_stream(tmp_path: Path, uneven: str, steps: int | None, workers: int) -> None:
    count = 980  # 931 good ones: 49 batches of 19
    options = {"uneven": uneven}
    found = on_ranks(tmp_path, WORLD, of_stream, tmp_path, "skip", workers, count, options)
    if steps is None:
        assert all(isinstance(error, UnevenError) for error in found)
        return
    first, second = (epochs[1] for epochs, _ in found)
    assert len(first) == len(second) == steps
    good = [number for number in GOOD if number < count]
    expected = [*chunks(good, 19), chunks(good, 19)[0]]
    assert in_turns([first, second]) == expected[: 2 * steps]
    counts = [report.counts for _, report in found]
    assert sum(each.read for each in counts) == count
    assert sum(each.dropped for each in counts) == (19 if uneven == "drop" else 0)
    assert sum(each.repeated for each in counts) == (19 if uneven == "repeat" else 0)
