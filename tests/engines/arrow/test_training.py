"""Parquet and Arrow files in the training loader: the same samples whatever the workers, also shuffled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from protocontract.torch import ContractDataset, ContractLoader
from tests.arrow.tables import write
from tests.support.samples import TEXT_SAMPLE, is_bad, number_of, text_samples

COUNT = 400
GOOD = [number for number in range(COUNT) if not is_bad(number)]


def numbers(items: Any) -> list[int]:
    return [number_of(item) for item in items]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("workers", [0, 2])
def test_a_column_of_records_is_trained_on(tmp_path: Path, form: str, workers: int) -> None:
    raws = [sample.SerializeToString() for sample in text_samples(COUNT)]
    path = tmp_path / f"a.{form}"
    write(pa.table({"value": raws}), path, "parquet" if form == "parquet" else "file", 64)
    dataset = ContractDataset.from_files(
        path, TEXT_SAMPLE, column="value", on_violation="skip", cache=tmp_path / "cache"
    )  # fmt: skip
    assert len(dataset) == len(GOOD)
    orders = []
    for shuffle in (False, True):
        loader = ContractLoader(
            dataset, batch_size=16, num_workers=workers, shuffle=shuffle, collate_fn=numbers,
            multiprocessing_context="spawn" if workers else None,
        )  # fmt: skip
        orders.append([number for batch in loader for number in batch])
    assert orders[0] == GOOD
    assert sorted(orders[1]) == GOOD
    assert orders[1] != GOOD
