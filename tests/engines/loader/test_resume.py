"""A training that was killed goes on from its last state, with other workers and ranks: no sample missing or twice."""

from __future__ import annotations

import json
import multiprocessing
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from protocontract import ContractError
from protocontract.torch import ContractDataset, ContractLoader
from tests.engines.loader.support import COUNT, batches, dataset, files, numbers, quarantined
from tests.engines.loader.trainer import loader, train
from tests.support.samples import is_bad, text_samples, write_samples

ROOT = Path(__file__).parents[3]


def live(folder: Path, kind: str, ranks: int, workers: int, kill_at: int) -> None:
    """One life of a training: all its ranks, until they are killed or done."""
    context = multiprocessing.get_context("fork")
    # Read once: a rank that starts late must not find what another one has saved since.
    saved = folder / "state.0.json"
    state = json.loads(saved.read_text()) if saved.exists() else None
    processes = [
        context.Process(target=train, args=(folder, kind, rank, ranks, workers, kill_at, state))
        for rank in range(ranks)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        process.kill()
        process.join()
    assert [process.exitcode for process in processes] == [-signal.SIGKILL if kill_at else 0] * ranks


def steps_of(path: Path, *, until_saved: bool) -> list[tuple[int, list[int]]]:
    """The steps of a rank's life, each with its epoch; those after the last state have not happened."""
    lines = path.read_text().splitlines()
    if until_saved:
        lines = lines[: len(lines) - lines[::-1].index("saved")]
    return [(epoch, batch) for epoch, batch in (json.loads(line) for line in lines if line != "saved")]


def expected(folder: Path, kind: str) -> list[tuple[int, list[int]]]:
    """The steps of a training that nobody killed, in one process."""
    alone = loader(folder, kind, 0, 1, 0)
    return [(epoch, batch) for epoch in range(2) for batch in alone]


@pytest.mark.parametrize("kind", ["files", "stream"])
@pytest.mark.parametrize(
    ("lives"),
    [
        # ranks, workers, the step in which they are killed: after a state, just on one, late in the second epoch
        [(1, 0, 23), (1, 3, 40), (1, 1, 0)],
        [(2, 1, 17), (1, 2, 10), (3, 0, 14), (2, 2, 0)],
    ],
    ids=["workers", "ranks"],
)
def test_killed_and_resumed(kind: str, lives: list[tuple[int, int, int]], tmp_path: Path) -> None:
    files(tmp_path)
    found: list[tuple[int, list[int]]] = []
    for life, (ranks, workers, kill_at) in enumerate(lives):
        before = {rank: len([*tmp_path.glob(f"seen.{rank}.*")]) for rank in range(ranks)}
        live(tmp_path, kind, ranks, workers, kill_at)
        last = life == len(lives) - 1
        each = [steps_of(tmp_path / f"seen.{rank}.{before[rank]}", until_saved=not last) for rank in range(ranks)]
        found += [step for round_ in zip(*each, strict=True) for step in round_]
    reference = tmp_path / "alone"
    reference.mkdir()
    files(reference)
    whole = expected(reference, kind)
    # The last round of each epoch may have repeated some of the first batches, so that every rank had one.
    repeated = len(found) - len(whole)
    assert 0 <= repeated <= 2 * 2
    assert [step for at, step in enumerate(found) if step not in found[:at]] == whole
    counted = Counter(number for epoch, batch in whole for number in batch)
    assert set(counted.values()) == {2}
    assert sorted(quarantined(tmp_path)) == sorted([*filter(is_bad, range(COUNT))] * 2)


def test_a_state_goes_on_in_another_loader_at_every_step(tmp_path: Path) -> None:
    files(tmp_path)
    options: dict[str, Any] = {"batch_size": 100, "shuffle": True, "collate_fn": numbers}
    whole = ContractLoader(dataset(tmp_path, "quarantine"), **options)
    states, seen = [whole.state_dict()], []
    for batch in whole:
        seen.append(batch)
        states.append(whole.state_dict())
    states.append(whole.state_dict())
    assert [state["samples"] for state in states] == [*range(0, 1_001, 100), 0]
    assert [state["epoch"] for state in states] == [0] * 11 + [1]
    report = whole.report()
    for at, state in reversed([*enumerate(states)][:11]):
        resumed = ContractLoader(dataset(tmp_path, "quarantine"), **options)
        resumed.load_state_dict(json.loads(json.dumps(state)))
        assert resumed.state_dict() == {**state, "quarantine": resumed.state_dict()["quarantine"]}
        resumed.set_epoch(0)
        assert batches(resumed) == seen[at:]
        # Counts go on too, and the quarantine file is as if nothing had happened.
        assert resumed.report().counts == report.counts
        assert sorted(quarantined(tmp_path)) == [*filter(is_bad, range(COUNT))]


def test_the_next_epoch_begins_at_its_start(tmp_path: Path) -> None:
    files(tmp_path)
    whole = ContractLoader(dataset(tmp_path), 100, shuffle=True, collate_fn=numbers)
    batches(whole)
    state = whole.state_dict()
    second = batches(whole)
    resumed = ContractLoader(dataset(tmp_path), 100, shuffle=True, collate_fn=numbers, num_workers=2)
    resumed.load_state_dict(state)
    assert batches(resumed) == second
    other = ContractLoader(dataset(tmp_path), 100, shuffle=True, collate_fn=numbers)
    iterator = iter(other)
    next(iterator)
    resumed.load_state_dict(other.state_dict())
    resumed.set_epoch(1)
    assert batches(resumed) == second


def _other_files(folder: Path) -> ContractLoader:
    write_samples(folder / "a.binpb", text_samples(300))
    return ContractLoader(dataset(folder), 100)


def _other_contract(folder: Path) -> ContractLoader:
    from protocontract.loading import compiler

    text = (ROOT / "contracts" / "acme" / "text" / "v1" / "text.proto").read_text()
    described = compiler("describe")({"text.proto": text.replace("min_len = 2", "min_len = 3")})
    contract = compiler("compile")(described)["acme.text.v1.TextSample"]
    train = ContractDataset.from_files(f"{folder}/[abc].*", contract, on_violation="skip", cache=folder / "cache")
    return ContractLoader(train, 100)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_other_files, "content of the sources"),
        (_other_contract, "contract fingerprint"),
        (lambda folder: ContractLoader(dataset(folder), 50), "batch size"),
        (lambda folder: ContractLoader(dataset(folder), 100, seed=1), "seed"),
        (lambda folder: ContractLoader(dataset(folder), 100, shuffle=True), "shuffle"),
        (lambda folder: ContractLoader(dataset(folder), 100, drop_last=True), "drop_last"),
    ],
)
def test_a_state_of_something_else_is_refused_naming_both(make: Any, words: str, tmp_path: Path) -> None:
    files(tmp_path)
    saved = ContractLoader(dataset(tmp_path), 100).state_dict()
    other = make(tmp_path)
    with pytest.raises(ContractError) as caught:
        other.load_state_dict(saved)
    assert str(caught.value).startswith(f"the state is of another {words}; expected ")
    key = {"content of the sources": "sources", "contract fingerprint": "fingerprint", "batch size": "batch_size"}
    for state in (saved, other.state_dict()):
        value = state[key.get(words, words)]
        assert str(value[0] if isinstance(value, list) else value) in str(caught.value)


def test_no_state_at_all_is_refused(tmp_path: Path) -> None:
    files(tmp_path)
    with pytest.raises(ContractError, match="not a state of a ContractLoader; expected version 1, got None"):
        ContractLoader(dataset(tmp_path)).load_state_dict({"_snapshot": {}})


def test_a_quarantine_file_that_lost_lines_is_noticed(tmp_path: Path) -> None:
    files(tmp_path)
    first = ContractLoader(dataset(tmp_path, "quarantine"), 100)
    batches(first)
    state = first.state_dict()
    (tmp_path / "rejects.jsonl").write_text("")
    with pytest.raises(ContractError, match=r"rejects\.jsonl has lost lines since the state was saved; expected \d+"):
        ContractLoader(dataset(tmp_path, "quarantine"), 100).load_state_dict(state)
