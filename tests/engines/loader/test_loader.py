"""One process with real workers: the same samples in the same order, and counts that add up."""

from __future__ import annotations

import json
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from acme.inference.v1.content_type_pb2 import ContentTypeInput
from protocontract import ContractError, ContractViolation
from protocontract.torch import ContractDataset, ContractLoader, ContractStream, RecordViolation
from tests.engines.loader.support import (
    BY_RULE,
    COUNT,
    GOOD,
    batches,
    chunks,
    dataset,
    files,
    flat,
    numbers,
    quarantined,
)
from tests.support.samples import TEXT_SAMPLE, is_bad

WORKERS = [0, 1, 4]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files(tmp_path)
    return tmp_path


@pytest.mark.parametrize("workers", WORKERS)
@pytest.mark.parametrize("policy", ["skip", "quarantine"])
def test_bad_records_are_left_out_and_counted(folder: Path, policy: str, workers: int) -> None:
    train = dataset(folder, policy)
    assert len(train) == len(GOOD)
    loader = ContractLoader(train, batch_size=32, num_workers=workers, collate_fn=numbers)
    assert len(loader) == 30
    assert batches(loader) == chunks(GOOD, 32)
    counts = loader.report().counts
    left_out = {"skip": counts.skipped, "quarantine": counts.quarantined}
    assert (counts.read, counts.used, left_out.pop(policy), *left_out.values()) == (COUNT, len(GOOD), 50, 0)
    assert counts.by_rule == BY_RULE
    assert counts.normalized == len(GOOD)
    word = {"skip": "skipped", "quarantine": "quarantined"}[policy]
    assert str(loader.report()) == f"1,000 read, 950 used, 50 {word}: 25 spans.bounds, 25 string.in"
    if policy == "quarantine":
        assert quarantined(folder) == [number for number in range(COUNT) if is_bad(number)]


@pytest.mark.parametrize("kind", ["shuffled", "buffered", "in order"])
def test_the_number_of_workers_changes_neither_samples_nor_order(folder: Path, kind: str) -> None:
    def loader(workers: int, seed: int = 5) -> ContractLoader:
        options: dict[str, Any] = {"batch_size": 16, "num_workers": workers, "collate_fn": numbers, "seed": seed}
        if kind == "shuffled":
            return ContractLoader(dataset(folder), shuffle=True, **options)
        stream = ContractStream.from_files(
            f"{folder}/[abc].*",
            TEXT_SAMPLE,
            on_violation="skip",
            cache=folder / "cache",
            shuffle_buffer=100 if kind == "buffered" else 0,
        )
        return ContractLoader(stream, **options)

    alone = loader(0)
    epochs = [batches(alone), batches(alone)]
    assert sorted(flat(epochs[0])) == sorted(flat(epochs[1])) == GOOD
    assert (epochs[0] == epochs[1]) == (kind == "in order")
    for workers in (1, 4):
        others = loader(workers)
        assert [batches(others), batches(others)] == epochs
        others.set_epoch(0)
        assert batches(others) == epochs[0]
    if kind != "in order":
        assert batches(loader(0, seed=6)) != epochs[0]


def test_persistent_workers_take_the_next_epoch(folder: Path) -> None:
    options: dict[str, Any] = {"batch_size": 16, "shuffle": True, "collate_fn": numbers}
    train = dataset(folder)
    alone = ContractLoader(train, **options)
    loader = ContractLoader(train, num_workers=2, persistent_workers=True, **options)
    for epoch in (0, 1, 4, 5):
        alone.set_epoch(epoch)
        loader.set_epoch(epoch)
        assert batches(loader) == batches(alone)
        assert (loader.report().epoch, loader.report().counts.read) == (epoch, COUNT)


@pytest.mark.parametrize("workers", WORKERS)
def test_what_was_only_prefetched_does_not_count(folder: Path, workers: int) -> None:
    loader = ContractLoader(dataset(folder, "quarantine"), batch_size=40, num_workers=workers, collate_fn=numbers)
    found = []
    for batch in loader:
        found += batch
        counts = loader.report().counts
        # Bad records ride with the good one behind them.
        seen = [number for number in range(found[-1]) if is_bad(number)]
        assert (counts.used, counts.quarantined) == (len(found), len(seen))
        assert quarantined(folder) == seen
        if len(found) == 400:
            break
    assert loader.report().counts.read == 400 + len(seen)
    # The epoch begins anew, and so does what is written of it.
    assert flat(batches(loader)) == GOOD
    assert loader.report().counts.read == COUNT
    assert len(quarantined(folder)) == 50


def test_each_epoch_writes_its_own_lines_and_a_new_run_a_new_file(folder: Path) -> None:
    loader = ContractLoader(dataset(folder, "quarantine"), batch_size=100, collate_fn=numbers)
    batches(loader)
    batches(loader)
    lines = [json.loads(line) for line in (folder / "rejects.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [0] * 50 + [1] * 50
    second = ContractLoader(dataset(folder, "quarantine"), batch_size=100, collate_fn=numbers)
    second.set_epoch(7)
    batches(second)
    assert len((folder / "rejects.jsonl").read_text().splitlines()) == 50
    assert len((folder / "rejects.jsonl.1").read_text().splitlines()) == 100


def test_raise_says_the_first_bad_record_before_anything_is_trained_on(folder: Path) -> None:
    with pytest.raises(RecordViolation) as caught:
        dataset(folder, "raise")
    assert (caught.value.place.source, caught.value.place.number) == (str(folder / "a.binpb"), 20)
    assert [each.rule_id for each in caught.value.violations] == ["spans.bounds"]
    files(folder, bad=False)
    assert flat(batches(ContractLoader(dataset(folder, "raise"), 32, collate_fn=numbers))) == GOOD


@pytest.mark.parametrize("workers", WORKERS)
def test_a_verdict_that_changes_with_time_is_raised_on_the_loaders_side(
    folder: Path, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As data: an exception of a worker would have lost its contents."""
    train = dataset(folder)
    # What a rule that reads the clock does: record 7 was valid when the file was indexed.
    judge = type(train.judge)
    of, text = judge.of, train[7].SerializeToString()[:38]

    def later(self: Any, raw: Any, encoding: Any) -> Any:
        return of(self, raw.replace(b"LOCATION", b"LOCATIOM") if raw.startswith(text) else raw, encoding)

    monkeypatch.setattr(judge, "of", later)
    loader = ContractLoader(train, batch_size=4, num_workers=workers, collate_fn=numbers)
    iterator = iter(loader)
    assert next(iterator) == [0, 1, 2, 3]
    with pytest.raises(ContractViolation) as caught:
        next(iterator)
    assert isinstance(caught.value, RecordViolation)
    place = caught.value.place
    assert (place.source, place.number, place.offset) == (
        str(folder / "a.binpb"),
        8,
        train.corpus.sample(7).place.offset,
    )
    (violation,) = caught.value.violations
    assert (violation.rule_id, violation.field_path, violation.value) == ("string.in", "entities[0].label", "LOCATIOM")
    assert active_children() == [], "the error is held, the workers are not"


@pytest.mark.parametrize("workers", [0, 2])
def test_a_file_that_changes_while_it_is_trained_on_is_an_error(folder: Path, workers: int) -> None:
    train = dataset(folder)
    (folder / "b.jsonl").write_text((folder / "b.jsonl").read_text() + "{}\n")
    loader = ContractLoader(train, batch_size=32, num_workers=workers, collate_fn=numbers)
    with pytest.raises(ContractError, match=r"b\.jsonl has changed since it was indexed"):
        batches(loader)


@pytest.mark.parametrize("workers", WORKERS)
def test_transform_runs_in_the_worker_and_its_errors_say_the_record(folder: Path, workers: int) -> None:
    train = dataset(folder, transform=lambda sample: number_squared(sample))
    loader = ContractLoader(train, batch_size=50, num_workers=workers)
    assert [int(number) for batch in loader for number in batch] == [number**2 for number in GOOD]
    broken = dataset(folder, transform=lambda sample: 1 // (numbers([sample])[0] - 3))
    with pytest.raises(ZeroDivisionError) as caught:
        batches(ContractLoader(broken, num_workers=workers))
    told = str(caught.value) + "".join(getattr(caught.value, "__notes__", []))
    assert f"transform of {folder}/a.binpb record 4 (byte " in told


@pytest.mark.parametrize("workers", [0, 2])
def test_what_a_services_step_makes_is_collated_by_its_own_contract(folder: Path, workers: int) -> None:
    plain = next(iter(ContractLoader(dataset(folder, transform=step), batch_size=3, num_workers=workers)))
    assert plain["bytes"].shape == (3, 2048)
    assert plain["bytes"][:, 0].tolist() == GOOD[:3]
    features, labels = next(
        iter(ContractLoader(dataset(folder, transform=labelled), batch_size=3, num_workers=workers))
    )
    assert features["bytes"][:, 0].tolist() == labels.tolist() == GOOD[:3]
    foreign = dataset(folder, transform=lambda sample: Timestamp(seconds=1))
    with pytest.raises(ContractError, match=r"no contract for google\.protobuf\.Timestamp"):
        batches(ContractLoader(foreign, num_workers=workers))


def step(sample: Any) -> ContentTypeInput:
    return ContentTypeInput(features=np.full(2048, numbers([sample])[0] % 256, "<i4").tobytes())


def labelled(sample: Any) -> tuple[ContentTypeInput, int]:
    return step(sample), numbers([sample])[0]


def number_squared(sample: Any) -> int:
    return numbers([sample])[0] ** 2


def test_batches_are_of_tensors_and_fields_by_default(folder: Path) -> None:
    first = next(iter(ContractLoader(dataset(folder), batch_size=3, num_workers=1)))
    assert first.size == 3
    assert [text[:6] for text in first.fields["raw_text"]] == ["text 0", "text 1", "text 2"]


def test_the_report_is_json_with_the_files_that_were_read(folder: Path) -> None:
    loader = ContractLoader(dataset(folder), batch_size=32, collate_fn=numbers)
    batches(loader)
    found = json.loads(loader.report().to_json())
    assert found["contract"] == "acme.text.v1.TextSample"
    assert found["fingerprint"] == TEXT_SAMPLE.fingerprint
    assert [(Path(each["name"]).name, each["records"]) for each in found["sources"]] == [
        ("a.binpb", 333), ("b.jsonl", 333), ("c.binpb", 334),
    ]  # fmt: skip
    assert (found["read"], found["used"], found["skipped"], found["by_rule"]) == (1_000, 950, 50, BY_RULE)


def test_drop_last_counts_what_it_drops(folder: Path) -> None:
    loader = ContractLoader(dataset(folder), batch_size=32, drop_last=True, collate_fn=numbers)
    assert len(loader) == 29
    assert batches(loader) == chunks(GOOD[: 29 * 32], 32)
    counts = loader.report().counts
    assert (counts.read, counts.used, counts.dropped, counts.skipped) == (1_000, 928, 22, 50)
    assert str(counts).startswith("1,000 read, 928 used, 22 dropped, 50 skipped: ")


def test_items_are_found_by_index(folder: Path) -> None:
    train = dataset(folder)
    assert [numbers([train[at]])[0] for at in (0, 19, 949, -1, -950)] == [0, 20, 998, 998, 0]
    for at in (950, -951):
        with pytest.raises(IndexError):
            train[at]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on_violation": "ignore"}, "unknown on_violation 'ignore'; expected raise, skip or quarantine"),
        ({"on_violation": "quarantine"}, "needs a file for bad records: quarantine="),
        ({"quarantine": "x"}, "quarantine= is for on_violation='quarantine', got on_violation='raise'"),
    ],
)
def test_options_that_do_not_go_together(folder: Path, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ContractDataset.from_files(f"{folder}/*.binpb", TEXT_SAMPLE, **options)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"batch_size": 0}, ValueError, "batch_size is 0; expected 1 or more"),
        ({"sampler": []}, TypeError, "sampler is decided by ContractLoader"),
        ({"rank": 2, "world_size": 2}, ValueError, "no rank 2 of 2"),
        ({"rank": 0}, ValueError, "no rank 0 of None"),
    ],
)
def test_arguments_that_the_loader_refuses(folder: Path, options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ContractLoader(dataset(folder), **options)


def test_a_launcher_without_a_group_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match=r"WORLD_SIZE is 2, but torch.distributed is not initialised"):
        ContractLoader(dataset(folder))
    assert len(ContractLoader(dataset(folder), rank=1, world_size=2, uneven="drop", batch_size=950 // 2)) == 1


def test_the_card_is_of_one_epoch_and_the_same_with_any_number_of_workers(folder: Path) -> None:
    cards = []
    for workers in (0, 2):
        loader = ContractLoader(
            dataset(folder), batch_size=32, num_workers=workers, drop_last=True, collate_fn=numbers, card=True
        )
        for _ in range(2):
            batches(loader)
        cards.append(loader.card())
    assert cards[0].to_json() == cards[1].to_json()
    counts = json.loads(cards[0].to_json())["records"]
    assert (counts["read"], counts["used"], counts["dropped"], counts["left_out"]) == (1_000, 928, 50, 22)
    with pytest.raises(ValueError, match=r"expected ContractLoader\(\.\.\., card=True\)"):
        ContractLoader(dataset(folder)).card()
