"""Saved states: what they are of, and where they say to go on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from protocontract.records.quarantine import QuarantineFile
from protocontract.torch.dataset import Checked
from protocontract.violations import ContractError

#: The form of states.
VERSION: Final = 1

# What must be the same for a place in an epoch to mean the same samples, in the words of an error.
_MEANING: Final = {
    "contract": "contract",
    "fingerprint": "contract fingerprint",
    "sources": "content of the sources",
    "batch_size": "batch size",
    "drop_last": "drop_last",
    "seed": "seed",
    "shuffle": "shuffle",
    "on_violation": "on_violation",
}


def identity(dataset: Checked[Any], seed: int, shuffle: int, batch_size: int, drop_last: bool) -> dict[str, Any]:
    """The part of a state that says what it is of."""
    if dataset.corpus is None:
        sources = [source.name for source in dataset.sources]
    else:
        sources = [index.sha256 for index in dataset.corpus.indexes]
    return {
        "version": VERSION,
        "contract": dataset.contract.full_name,
        "fingerprint": dataset.contract.fingerprint,
        "sources": sources,
        "batch_size": batch_size,
        "drop_last": drop_last,
        "seed": seed,
        "shuffle": shuffle,
        "on_violation": dataset.on_violation,
    }


def check_state(state: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Raise ContractError where a state is of something else, naming both."""
    if state.get("version") != VERSION:
        raise ContractError(
            f"not a state of a ContractLoader; expected version {VERSION}, got {state.get('version')!r}"
        )
    for name, words in _MEANING.items():
        if state.get(name) != here[name]:
            raise ContractError(
                f"the state is of another {words}; expected {_text(here[name])}, got {_text(state.get(name))}"
            )


def position(state: Mapping[str, Any], quarantine: QuarantineFile | None) -> tuple[int, int]:
    """Epoch and global batch to go on with.

    Raises ContractError where this rank's quarantine file holds less than the state says.
    """
    kept = state["quarantine"]
    if quarantine is not None and kept is not None and kept["file"] == str(quarantine.path):
        there = quarantine.position()
        if there < kept["bytes"]:
            raise ContractError(
                f"{quarantine.path} has lost lines since the state was saved;"
                f" expected {kept['bytes']} bytes or more, got {there}"
            )
    return int(state["epoch"]), -(-int(state["samples"]) // int(state["batch_size"]))


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
