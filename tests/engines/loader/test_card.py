"""The data card of an epoch: the one that the files make, whatever the workers and ranks."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from protocontract.card import Card, CardBuilder
from protocontract.card.command import card_of, open_sources
from protocontract.torch import ContractLoader
from tests.engines.loader.support import COUNT, GOOD, batches, dataset, files, numbers, on_ranks
from tests.support.samples import TEXT_SAMPLE

WORLD = 2


def of_files(folder: Path) -> Card:
    """What ``protocontract card`` makes of the same files."""
    return card_of(TEXT_SAMPLE, open_sources([f"{folder}/[abc].*"], None, TEXT_SAMPLE))


def counted(folder: Path, workers: int) -> bytes:
    """The card of a rank's second epoch, on its way to another."""
    loader = ContractLoader(
        dataset(folder), 19, num_workers=workers, collate_fn=numbers, shuffle=True, seed=3, card=True, uneven="drop"
    )
    for _ in range(2):
        batches(loader)
    return pickle.dumps(loader.card_builder())


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_any_number_of_workers_makes_the_card_of_the_files(tmp_path: Path, workers: int) -> None:
    files(tmp_path)
    card = pickle.loads(counted(tmp_path, workers)).card()
    assert card.to_json() == of_files(tmp_path).to_json()
    assert card.data["records"]["used"] == len(GOOD)


def test_ranks_merge_into_the_card_of_the_epoch(tmp_path: Path) -> None:
    files(tmp_path)
    whole: CardBuilder[object] = CardBuilder(TEXT_SAMPLE)
    for part in on_ranks(tmp_path, WORLD, counted, tmp_path, 1):
        whole.merge(pickle.loads(part))
    card, expected = whole.card().data, of_files(tmp_path).data
    assert card["records"]["read"] == COUNT
    assert card["records"]["used"] + card["records"]["left_out"] == len(GOOD)
    assert {name: card[name] for name in ("sources", "dropped", "contract")} == {
        name: expected[name] for name in ("sources", "dropped", "contract")
    }


def test_a_card_must_be_asked_for(tmp_path: Path) -> None:
    files(tmp_path)
    with pytest.raises(ValueError, match=r"expected ContractLoader\(\.\.\., card=True\)"):
        ContractLoader(dataset(tmp_path), 19, collate_fn=numbers).card()
