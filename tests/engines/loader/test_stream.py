"""Streams in one process, and both kinds of data sets under PyTorch's own loader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict, MessageToJson
from torch.utils.data import DataLoader

from protocontract import ContractError
from protocontract.torch import ContractLoader, ContractStream, RecordViolation
from tests.engines.loader.support import BY_RULE, COUNT, GOOD, batches, chunks, dataset, files, numbers, quarantined
from tests.support.samples import TEXT_SAMPLE, is_bad, number_of, text_sample, text_samples


def items() -> Iterator[Any]:
    """Samples in all forms that a stream takes."""
    for number, sample in enumerate(text_samples(COUNT)):
        yield [sample, sample.SerializeToString(), MessageToJson(sample), MessageToDict(sample)][number % 4]


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_a_stream_of_anything(tmp_path: Path, workers: int) -> None:
    stream = ContractStream.from_iterable(
        items, TEXT_SAMPLE, on_violation="quarantine", quarantine=tmp_path / "rejects.jsonl"
    )
    loader = ContractLoader(stream, batch_size=32, num_workers=workers, collate_fn=numbers)
    for _ in range(2):
        assert batches(loader) == chunks(GOOD, 32)
        counts = loader.report().counts
        assert (counts.read, counts.used, counts.quarantined, counts.by_rule) == (COUNT, 950, 50, BY_RULE)
    assert quarantined(tmp_path) == [number for number in range(COUNT) if is_bad(number)] * 2
    with pytest.raises(TypeError, match="the number of samples is not known"):
        len(loader)


def test_persistent_workers_of_a_stream(tmp_path: Path) -> None:
    stream = ContractStream.from_iterable(text_samples(300), TEXT_SAMPLE, on_violation="skip", shuffle_buffer=40)
    alone = ContractLoader(stream, batch_size=8, collate_fn=numbers)
    loader = ContractLoader(stream, batch_size=8, num_workers=2, persistent_workers=True, collate_fn=numbers)
    for _ in range(3):
        assert batches(loader) == batches(alone)


def test_bad_records_at_the_end_are_counted(tmp_path: Path) -> None:
    stream = ContractStream.from_iterable([text_sample(0), b"\xff", b"\xff"], TEXT_SAMPLE, on_violation="skip")
    loader = ContractLoader(stream, batch_size=8, num_workers=2, collate_fn=numbers)
    assert batches(loader) == [[0]]
    assert str(loader.report()) == "3 read, 1 used, 2 skipped: 2 wire.malformed"


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stream_without_a_good_record_is_an_error(workers: int) -> None:
    stream = ContractStream.from_iterable([b"\xff"] * 3, TEXT_SAMPLE, on_violation="skip", name="queue")
    with pytest.raises(ContractError, match=r"none of 3 records keeps acme\.text\.v1\.TextSample \(in queue\)"):
        batches(ContractLoader(stream, batch_size=8, num_workers=workers))


@pytest.mark.parametrize("workers", [0, 2])
def test_what_comes_before_a_bad_record_is_delivered(workers: int) -> None:
    stream = ContractStream.from_iterable(text_samples(COUNT), TEXT_SAMPLE, name="queue")
    iterator = iter(ContractLoader(stream, batch_size=5, num_workers=workers, collate_fn=numbers))
    assert [next(iterator) for _ in range(3)] == chunks(GOOD, 5)[:3]
    with pytest.raises(RecordViolation) as caught:
        next(iterator)
    assert (str(caught.value.place), caught.value.violations[0].value) == ("queue record 20", None)


def test_a_stream_wants_no_shuffle_and_one_kind_of_sources(tmp_path: Path) -> None:
    stream = ContractStream.from_iterable([b""], TEXT_SAMPLE)
    with pytest.raises(ValueError, match="give the ContractStream shuffle_buffer="):
        ContractLoader(stream, shuffle=True)
    files(tmp_path)
    of_files = ContractStream.from_files(f"{tmp_path}/a.*", TEXT_SAMPLE, on_violation="skip", cache=tmp_path)
    with pytest.raises(TypeError, match="expected either files or other sources, got both"):
        ContractStream([*of_files.sources, *stream.sources], TEXT_SAMPLE)


# -- PyTorch's own loader


@pytest.mark.parametrize("workers", [0, 2])
def test_a_plain_loader_over_files(tmp_path: Path, workers: int) -> None:
    files(tmp_path)
    train = dataset(tmp_path)
    plain: Any = DataLoader(train, batch_size=32, num_workers=workers, collate_fn=train.collate)
    found = [batch.fields["raw_text"] for batch in plain]
    # Normalised: the two blanks of each text are one.
    assert found == [[f"text {number} of Oxford" for number in chunk] for chunk in chunks(GOOD, 32)]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_plain_loader_over_a_stream(tmp_path: Path, workers: int) -> None:
    files(tmp_path)
    of_files = ContractStream.from_files(f"{tmp_path}/[abc].*", TEXT_SAMPLE, on_violation="skip", cache=tmp_path / "c")
    of_items = ContractStream.from_iterable(text_samples(COUNT), TEXT_SAMPLE, on_violation="skip")
    for stream in (of_files, of_items):
        plain: Any = DataLoader(stream, batch_size=32, num_workers=workers, collate_fn=numbers)
        assert sorted(number for batch in plain for number in batch) == GOOD


@pytest.mark.parametrize("workers", [0, 1])
def test_a_plain_loader_raises_with_the_record_in_the_text(workers: int) -> None:
    stream = ContractStream.from_iterable(text_samples(COUNT), TEXT_SAMPLE, name="queue")
    # PyTorch makes a worker's exception of its text: what cannot be made of one becomes a RuntimeError.
    expected = RuntimeError if workers else RecordViolation
    with pytest.raises(expected, match=r"queue record 20: 1 violation of the contract\n.*spans\.bounds"):
        list(DataLoader(stream, batch_size=32, num_workers=workers, collate_fn=numbers))


def test_items_are_messages(tmp_path: Path) -> None:
    files(tmp_path)
    assert number_of(dataset(tmp_path)[3]) == 3
